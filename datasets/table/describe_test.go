package table

import (
	"slices"
	"testing"
)

// What a description takes a label for is what Infer takes it for.
func TestDescribedTask(t *testing.T) {
	for name, c := range map[string]struct {
		rows string
		want Task
	}{
		"whole numbers": {"1,a\n2,b\n3,a\n", Classification},
		"few fractions": {"0.5,a\n1,b\n1.5,a\n", Regression},
		"texts":         {"low,a\nhigh,b\n", Classification},
	} {
		path := put(t, "x.csv", "y,x\n"+c.rows)
		d, err := Describe(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Infer(path, Options{Label: "y", Categories: map[string][]string{"x": {"a", "b"}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Columns[0].Task(); got != c.want || got != s.Label.Task {
			t.Errorf("%s: described as %s, inferred as %s, want %s", name, got, s.Label.Task, c.want)
		}
	}
}

func TestLargest(t *testing.T) {
	s, got, err := read(t, put(t, "x.csv", "a,c,b,y\n1,u,-300,no\n-2,v,20,yes\n"), Options{
		Label: "y", Categories: map[string][]string{"c": {"u", "v"}}, Scale: map[string][2]float64{"b": {0, 10}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if largest := s.Largest(got); !slices.Equal(largest, []float32{2, 1, 30}) {
		t.Errorf("largest values %v, want 2, 1 and 30", largest)
	}
}
