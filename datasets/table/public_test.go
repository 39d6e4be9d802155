package table

import (
	"archive/zip"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// If options are complete, SchemaOf makes the same schema as Infer from these options and a public file.
func TestSchemaOfOptionsIsTheInferredOne(t *testing.T) {
	o := Options{
		Label: "y", Ignore: []string{"id"}, Categories: map[string][]string{"c": {"u", "v"}},
		Clip: map[string][2]float64{"a": {0, 10}}, Scale: map[string][2]float64{"*": {1, 2}},
	}
	want, err := Infer(open(t, put(t, "x.csv", "a,id,c,b,y\n1,1,u,3,no\n2,2,v,4,yes\n")), o)
	if err != nil {
		t.Fatal(err)
	}
	o.Classes, o.Columns = []string{"no", "yes"}, []string{"a", "id", "c", "b", "y"}
	got, err := SchemaOf(o)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, got, want)
	}
	o.Columns = []string{"b", "c", "a"}
	got, err = SchemaOf(o)
	if err != nil || got.Columns[0].Name != "b" || got.Columns[2].Clip == nil || got.Shape[0] != 4 {
		t.Errorf("in another order: %+v, %v", got, err)
	}
	inferred, err := Infer(open(t, put(t, "x.csv", "a,id,c,b,y\n1,1,u,3,no\n2,2,v,4,yes\n")), o)
	if err != nil || !reflect.DeepEqual(got, inferred) {
		t.Errorf("columns given, and a file: %v\ngot  %+v\nwant %+v", err, inferred, got)
	}
}

func TestSchemaOfArrays(t *testing.T) {
	o := Options{Label: "y", Task: Regression, Columns: []string{"x"}, Shapes: map[string][]int{"x": {2, 3}}}
	s, err := SchemaOf(o)
	if err != nil || !reflect.DeepEqual(s.Shape, []int{2, 3}) || s.Outputs() != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	path := put(t, "x.npz", npz(t, zip.Store, map[string]string{
		"x": npy(1, head("<f4", "False", "(1, 2, 3)"), make([]float32, 6)), "y": npy(1, head("<f4", "False", "(1,)"), []float32{1}),
	}))
	if got, err := s.Read(open(t, path), Training); err != nil || len(got.Values) != 6 {
		t.Errorf("%+v, %v", got, err)
	}
	if again, err := Infer(open(t, path), o); err != nil || !reflect.DeepEqual(again, s) {
		t.Errorf("inferred %+v, %v", again, err)
	}
	o.Shapes["x"] = []int{3, 2}
	if _, err := Infer(open(t, path), o); err == nil || !strings.Contains(err.Error(), "[3 2], and in") {
		t.Errorf("another shape: %v", err)
	}
}

func TestWrongOptionsForASchema(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"no columns":           {func(o *Options) { o.Columns = nil }, "columns: none; "},
		"an empty name":        {func(o *Options) { o.Columns = []string{"a", ""} }, "columns: an empty name"},
		"twice":                {func(o *Options) { o.Columns = []string{"a", "a"} }, `columns: "a" stands twice`},
		"no classes":           {func(o *Options) { o.Classes = nil }, "task: without a public test file, say what y is"},
		"classification alone": {func(o *Options) { o.Classes, o.Task = nil, Classification }, "classes: without a public test file"},
		"unknown clip":         {func(o *Options) { o.Clip = map[string][2]float64{"z": {0, 1}} }, `clip: the settings list no column "z"; they list a, c, y, id`},
		"unknown shape":        {func(o *Options) { o.Shapes = map[string][]int{"z": {2}} }, `shapes: the settings list no column "z"`},
		"categories in shape":  {func(o *Options) { o.Shapes = map[string][]int{"c": {2}} }, "categories of c: shape [2]: categories are one value a row"},
		"a label in shape":     {func(o *Options) { o.Shapes = map[string][]int{"y": {2}} }, "shapes: y is the label"},
		"a length of 0":        {func(o *Options) { o.Shapes = map[string][]int{"a": {0}} }, "shapes of a: [0]"},
		"too wide":             {func(o *Options) { o.Shapes = map[string][]int{"a": {1 << 20, 1 << 20, 1 << 20}} }, "want 1 to"},
		"all ignored":          {func(o *Options) { o.Ignore = []string{"a", "c"} }, "columns: none is left"},
		"scaled classes":       {func(o *Options) { o.Scale = map[string][2]float64{"y": {0, 1}} }, "y holds classes"},
	} {
		o := Options{Label: "y", Classes: []string{"0", "1"}, Columns: []string{"a", "c"}, Ignore: []string{"id"}, Categories: map[string][]string{"c": {"u", "v"}}}
		c.change(&o)
		if _, err := SchemaOf(o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// A training file with unlisted columns is an error, which has their names in Private alone.
func TestCheckColumns(t *testing.T) {
	o := Options{Label: "y", Classes: []string{"0", "1"}, Columns: []string{"a", "c"}, Ignore: []string{"id"}}
	for text, want := range map[string]string{
		"y,a,c,id\n1,2,3,4\n":             "",
		"a,c,y\n1,2,3\n":                  "",
		",a,c,y\n7,1,2,3\n":               "", // row numbers
		"a,c,y," + secret + "\n1,2,3,4\n": "column 4 isn't among the columns of the settings; list it in data.columns",
		secret + ",a,b,y\n1,2,3,4\n":      "columns 1, 3 aren't among the columns of the settings",
	} {
		err := o.CheckColumns(open(t, put(t, "x.csv", text)))
		if want == "" {
			if err != nil {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || leaks(err.Error()) || !leaks(e.Private) {
			t.Errorf("%q: %v (%+v), want %s", text, err, e, want)
		}
	}
	o.Columns = []string{"a"}
	if _, err := Infer(open(t, put(t, "x.csv", "a,c,y,id\n1,2,0,4\n")), o); err == nil || !strings.Contains(err.Error(), "also has c; list them, or ignore them") {
		t.Errorf("a public file with another column: %v", err)
	}
	o.Columns = []string{"a", "z"}
	if _, err := Infer(open(t, put(t, "x.csv", "a,y,id\n1,0,4\n")), o); err == nil || !strings.Contains(err.Error(), `has no column "z"`) {
		t.Errorf("a public file without a column: %v", err)
	}
}
