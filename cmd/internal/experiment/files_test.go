package experiment

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/train"
)

func file(t *testing.T, contents string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte(contents), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// loadOwn loads a person's own files for training.
func loadOwn(t *testing.T, d settings.Data) (loaded, error) {
	t.Helper()
	e := experiment(t, "model=linear")
	e.Dataset, e.Data = settings.Files, d
	s, files, err := describe(e, true)
	if err != nil {
		t.Fatal(err)
	}
	return files.load(t.Context(), d, s, silent{})
}

// Labels are clipped in the private file alone, neither file is taken for the other, and columns and classes come from
// the public one. The compared columns are those that engines get.
func TestLoadFiles(t *testing.T) {
	columns := func(d *train.Data) string { return fmt.Sprint(reflect.ValueOf(d).Elem().FieldByName("columns")) }
	l, err := loadOwn(t, settings.Data{
		Train: file(t, "x,y,private\n1,12,0\n2,-1,0\n3,7,0\n"), Test: file(t, "y,x\n12,8\n4,4\n"), Label: "y", Task: "regression",
		Clip: map[string][2]float64{"y": {0, 10}}, Scale: map[string][2]float64{"y": {5, 2}, "x": {0, 4}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := columns(l.train), "{3 [{[0.25 0.5 0.75] []} {[2.5 -2.5 1] []}]}"; got != want {
		t.Errorf("trained on %s, want %s", got, want)
	}
	if got, want := columns(l.test.Inputs()), "{2 [{[2 1] []} {[3.5 -0.5] []}]}"; got != want || l.test.Metric() != train.R2 {
		t.Errorf("scored on %s by %s, want %s", got, l.test.Metric(), want)
	}
	if l.model.Outputs != 1 || l.model.Task != release.Regression || !slices.Equal(l.model.Shape, []int{1}) {
		t.Errorf("the model is %+v", l.model)
	}
	l, err = loadOwn(t, settings.Data{Train: file(t, "x,y\n1,b\n2,b\n"), Test: file(t, "y,x\nc,8\nb,4\na,0\n"), Label: "y"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := columns(l.train), "{2 [{[1 2] []} {[0 1 0 0 1 0] []}]}"; got != want || !slices.Equal(l.model.Classes, []string{"a", "b", "c"}) || l.model.Outputs != 3 {
		t.Errorf("trained on %s of the classes %v, want %s", got, l.model.Classes, want)
	}
}

// Categories are odd that the private file has otherwise than the public one, not those that a list leaves to "*".
func TestOddCategories(t *testing.T) {
	s := &table.Schema{Columns: []table.Column{{Name: "c", Categories: []string{"a", table.All}}}}
	shares := func(unlisted float64) *table.Samples { return &table.Samples{N: 100, Clipped: []float64{unlisted}} }
	for _, c := range []struct {
		private float64
		public  *table.Samples
		want    int
	}{
		{1, shares(0), 1}, {.2, shares(.05), 1}, {.2, shares(.15), 0}, {.6, nil, 0}, {1, nil, 1},
	} {
		if got := oddities(settings.Data{}, s, shares(c.private), c.public, table.Overlap{}); len(got) != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	d := settings.Data{Train: file(t, "c,y\nyes,1\nno,2\n"), Test: file(t, "c,y\nYes,1\nNo,2\n"), Label: "y", Categories: map[string][]string{"c": {"No", "Yes", table.All}}}
	if got, err := loadOwn(t, d); err != nil || len(got.oddities) != 1 || !strings.HasPrefix(got.oddities[0], "100 % of the cells of c are none of its categories") {
		t.Errorf("%q, %v", got.oddities, err)
	}
}
