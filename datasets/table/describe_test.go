package table

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Summary.Task is the task that Infer infers.
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
		d, err := Describe(open(t, path))
		if err != nil {
			t.Fatal(err)
		}
		s, err := Infer(open(t, path), Options{Label: "y", Categories: map[string][]string{"x": {"a", "b"}}})
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

// A description reports NA among amounts.
func TestDescribedAmountsWithGaps(t *testing.T) {
	d, err := Describe(open(t, put(t, "x.csv", "age,size,colour\n31,1,red\nNA,2,7\n4.5,3,red\nNA,4,blue\n")))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		texts int
		text  string
	}{{2, "NA"}, {0, ""}, {3, "red"}} {
		if c := d.Columns[i]; c.Texts != want.texts || c.Text != want.text {
			t.Errorf("column %s has %d texts, such as %q, want %d, such as %q", c.Name, c.Texts, c.Text, want.texts, want.text)
		}
	}
}

// Labels that are amounts with NA among them aren't inferred as one class for each amount.
func TestAmountsWithGapsAreNoClasses(t *testing.T) {
	const amounts = 101 // one more than whole numbers have where they are taken for classes
	rows := &strings.Builder{}
	for i := range amounts {
		fmt.Fprintf(rows, "1,%d.5\n", i)
	}
	path := put(t, "x.csv", "x,y\n"+rows.String()+"1,NA\n")
	_, err := Infer(open(t, path), Options{Label: "y"})
	var e *Error
	if !errors.As(err, &e) || e.Column != "y" || !strings.Contains(e.Problem, `1 of 102 labels aren't numbers, such as "NA"`) {
		t.Errorf("inferred with %v", err)
	}
	if s, err := Infer(open(t, path), Options{Label: "y", Task: Classification}); err != nil || len(s.Label.Classes) != amounts+1 {
		t.Errorf("a classification on demand: %v", err)
	}
	if s, err := Infer(open(t, put(t, "few.csv", "x,y\n1,1\n1,2\n1,3+\n")), Options{Label: "y"}); err != nil || len(s.Label.Classes) != 3 {
		t.Errorf("a few classes, of which one is a text: %v", err)
	}
}

// A class that the public file lacks is mostly an amount, if all classes are whole numbers.
func TestUnknownClassMayBeAnAmount(t *testing.T) {
	for labels, amounts := range map[string]bool{"1,2,3": true, "a,b,c": false, "1,2,c": false} {
		class := strings.Split(labels, ",")
		s, err := Infer(open(t, put(t, "test.csv", "x,y\n1,"+class[0]+"\n1,"+class[1]+"\n1,"+class[2]+"\n")), Options{Label: "y"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Read(open(t, put(t, "train.csv", "x,y\n1,4\n")), Training)
		if err == nil || strings.Contains(err.Error(), "--task regression") != amounts {
			t.Errorf("classes %s: %v", labels, err)
		}
	}
}
