package experiment

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/train"
)

// valuesOf returns the values of a column of data as engines get them.
func valuesOf(d *train.Data, column int) (out []float64) {
	values := reflect.ValueOf(d).Elem().FieldByName("columns").FieldByName("Columns").Index(column).FieldByName("Floats")
	for i := range values.Len() {
		out = append(out, values.Index(i).Float())
	}
	return out
}

// With another unit, whose rows stand between theirs, all others keep the same rows and their labels, and each draws
// its own. A value is 100 times the unit plus the number of the row in it.
func TestUnitsKeepTheirRowsInAnyGroup(t *testing.T) {
	kept := func(units ...int) (of map[int][]int) {
		var names []string
		var values []float32
		for row := range 8 {
			for _, u := range units {
				names, values = append(names, fmt.Sprint(u)), append(values, float32(100*u+row))
			}
		}
		l := unitsOf(names...)
		l.units.rows.Values, l.units.rows.Numbers = values, slices.Clone(values)
		cut, err := l.forKey(train.InsecureKey(3))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(valuesOf(cut.train, 0), valuesOf(cut.train, 1)) {
			t.Errorf("rows %v have labels %v", valuesOf(cut.train, 0), valuesOf(cut.train, 1))
		}
		of = map[int][]int{}
		for _, v := range valuesOf(cut.train, 0) {
			of[int(v)/100] = append(of[int(v)/100], int(v)%100)
		}
		return of
	}
	with, without := kept(9, 1, 2, 3, 4, 5), kept(1, 2, 3, 4, 5)
	delete(with, 9)
	if !reflect.DeepEqual(with, without) {
		t.Errorf("kept %v, and with another unit %v", without, with)
	}
	sets := map[string]bool{}
	for rows := range maps.Values(without) {
		sets[fmt.Sprint(rows)] = true
	}
	if len(sets) < 2 {
		t.Errorf("all units keep the same rows: %v", without)
	}
}

// A run for units of three rows is calibrated to the guarantee for three rows. Units of one row are rows.
func TestUnitsAreCharged(t *testing.T) {
	o := accountant.Options{Mode: accountant.Paper}
	run := train.Privacy{SamplingRate: 0.05, NoiseMultiplier: 2, ClippingNorm: 1, Steps: 20, NominalSize: 100}
	for rows, want := range map[int]accountant.Event{0: run.Event(), 1: run.Event(), 3: accountant.GroupOf{Event: run.Event(), Size: 3}} {
		got, err := unitRun{run, rows}.Guarantee(1e-5, o)
		same, wrong := accountant.Epsilon(want, 1e-5, o)
		if err != nil || wrong != nil || got.Epsilon != same.Epsilon {
			t.Errorf("%d rows: epsilon %v, want %v, %v", rows, got.Epsilon, same.Epsilon, err)
		}
		u, g, err := unitRun{run, rows}.calibrate(1, 1e-5, o)
		if err != nil || u.rows != rows || g.Epsilon > 1 || g.Epsilon < 0.999 {
			t.Errorf("%d rows: calibrated to epsilon %v, %v", rows, g.Epsilon, err)
		}
	}
}

// Units in both files are warned of, in private.
func TestSharedUnitsAreWarnedOf(t *testing.T) {
	for public, want := range map[string]string{
		"who,x,y\na,9,b\nz,8,a\n": "1 of the units of rows.csv (column who) have rows in rows.csv too", "who,x,y\nz,9,b\n,8,a\n": "", "x,y\n9,b\n8,a\n": "",
	} {
		l, err := loadOwn(t, settings.Data{
			Train: file(t, "who,x,y\na,1,a\na,2,b\nb,3,a\na,4,a\n"), Test: file(t, public), Label: "y", Classes: []string{"a", "b"}, Unit: "who", RowsPerUnit: 2,
		})
		if err != nil || !strings.HasPrefix(l.privateWarning, want) || want == "" && l.privateWarning != "" {
			t.Errorf("%q: %q, %v", public, l.privateWarning, err)
		}
	}
}

// A plan for units trains on the rows that are kept, and states so. Beside it no plan of another key, which keeps other
// rows.
func TestPlansForUnits(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("who,x,y\n")
	for i := range 300 {
		fmt.Fprintf(&rows, "%d,%d,%s\n", i/3, 1-2*(i%2), []string{"yes", "no"}[i%2])
	}
	settings := append(replaced(own(t), "data.train", file(t, rows.String())), "data.unit=who", "data.rows_per_unit=2")
	p := resolve(t, true, settings...)
	if s := p.Statement(); p.Samples.Train != 200 || s.Samples != 200 || s.Unit != "who" || s.RowsPerUnit != 2 {
		t.Fatalf("plan of %+v states %+v", p.Samples, s)
	}
	o, _ := carryOut(t, p)
	if o.Release.Privacy.RowsPerUnit != 2 || o.Release.Privacy.Samples != 200 {
		t.Errorf("released %+v", o.Release.Privacy)
	}
	other := p.Again(new(uint64(8)))
	_, err := RunAll(t.Context(), cpu.New(cpu.Options{}), []Job{{p, Options{Key: p.Key()}, silent{}}, {other, Options{Key: other.Key()}, silent{}}})
	if err == nil || !strings.Contains(err.Error(), "keeps other rows of each unit") {
		t.Errorf("another key: %v", err)
	}
}
