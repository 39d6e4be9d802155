package table

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// people has the label first and an ignored column in the middle, so that no position is right by chance.
const people = "y,colour,age,id,income\n10,red,150,1,2000\n9,,-3,2,625\n1.0,blue,45,3,-1\n"

func ofPeople() Options {
	return Options{
		Label: "y", Ignore: []string{"id"},
		Categories: map[string][]string{"colour": {"green", "*", "", "red"}},
		Clip:       map[string][2]float64{"age": {0, 120}, "*": {0, 1000}},
		Scale:      map[string][2]float64{"age": {50, 25}, "*": {500, 250}},
	}
}

func infer(t *testing.T, path string, o Options) *Schema {
	t.Helper()
	s, err := Infer(open(t, path), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func reading(t *testing.T, s *Schema, path string, use Use) *Samples {
	t.Helper()
	got, err := s.Read(open(t, path), use)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// By hand: categories are one-hot in their listed order; numbers are clipped and then scaled, by their column's
// constants or else the common ones; classes that are numbers are sorted by number; samples contain neither the label
// nor ignored columns.
func TestRowsBecomeSamples(t *testing.T) {
	path := put(t, "x.csv", people)
	s := infer(t, path, ofPeople())
	want := []float32{
		0, 0, 0, 1, 2.8, 2,
		0, 0, 1, 0, -2, 0.5,
		0, 1, 0, 0, -0.2, -2,
	}
	if !slices.Equal(s.Shape, []int{6}) || !slices.Equal(s.Label.Classes, []string{"1", "9", "10"}) || s.Label.Task != Classification || s.Outputs() != 3 {
		t.Errorf("shape %v, label %+v", s.Shape, s.Label)
	}
	for _, use := range []Use{Training, Testing} {
		got := reading(t, s, path, use)
		if got.N != 3 || !slices.Equal(got.Values, want) || !slices.Equal(got.Classes, []int32{2, 1, 0}) || got.Numbers != nil {
			t.Errorf("use %d: %+v", use, got)
		}
	}
	if n, err := s.Count(open(t, path)); err != nil || n != 3 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// A sample depends neither on its label nor on the order of the file's columns.
func TestLabelsAreNoInput(t *testing.T) {
	s := infer(t, put(t, "x.csv", people), ofPeople())
	want := reading(t, s, put(t, "x.csv", people), Training).Values
	for name, file := range map[string]string{
		"other labels":      "y,colour,age,id,income\n1,red,150,1,2000\n1,,-3,2,625\n9,blue,45,3,-1\n",
		"no class":          "y,colour,age,id,income\nwhat,red,150,1,2000\n,,-3,2,625\n77,blue,45,3,-1\n",
		"no label":          "colour,age,id,income\nred,150,1,2000\n,-3,2,625\nblue,45,3,-1\n",
		"another order":     "income,note,age,colour,y\n2000,x,150,red,10\n625,,-3,,9\n-1,z,45,blue,1\n",
		"written otherwise": "y,colour,age,income\n10,red,1.5e2,2000.0\n9,,-3,625\n1,blue,4.5e+1,-1\n",
	} {
		got := reading(t, s, put(t, "x.csv", file), Predicting)
		if !slices.Equal(got.Values, want) || got.N != 3 || got.Classes != nil || got.Numbers != nil {
			t.Errorf("%s: %+v, want %v", name, got, want)
		}
	}
}

// "*" means categories that aren't listed, and not missing ones. Predicting reads files whose labels can't be read.
func TestMissingAndUnread(t *testing.T) {
	s := infer(t, put(t, "x.csv", "c,y\nred,a\nblue,b\n"), Options{Label: "y", Categories: map[string][]string{"c": {"red", "*"}}})
	if got, err := s.Read(open(t, put(t, "x.csv", "c,y\nred,a\n,b\n")), Training); err == nil || !strings.Contains(err.Error(), "line 3, column c: no category") {
		t.Errorf("no category is read as %+v, %v", got, err)
	}
	x := npy(1, head("<f4", "False", "(2,)"), []float32{1, 2})
	s = infer(t, put(t, "x.npz", npz(t, zip.Store, map[string]string{"x": x, "y": npy(1, head("|u1", "False", "(2,)"), []uint8{1, 0})})), Options{Label: "y"})
	objects := put(t, "x.npz", npz(t, zip.Store, map[string]string{"x": x, "y": npy(1, head("|O", "False", "(2,)"), []uint8{1, 0})}))
	if got, err := s.Read(open(t, objects), Predicting); err != nil || !slices.Equal(got.Values, []float32{1, 2}) {
		t.Errorf("with labels that can't be read: %+v, %v", got, err)
	}
	if _, err := s.Read(open(t, objects), Testing); err == nil {
		t.Error("labels that can't be read are read")
	}
	// A blank line in a file of one column may be a missing value. Without it later rows would move up.
	if got, err := s.Read(open(t, put(t, "x.csv", "\nx\n\"1\n\"\n2\n\n")), Predicting); err != nil || got.N != 2 {
		t.Errorf("blank lines around the rows: %+v, %v", got, err)
	}
	if got, err := s.Read(open(t, put(t, "x.csv", "x\n\"1\n\"\n\n2\n")), Predicting); err == nil || !strings.Contains(err.Error(), "line 4: blank") {
		t.Errorf("a blank line among the rows: %+v, %v", got, err)
	}
}

// Errors name the line on which a row begins, also after a cell of two lines and an empty line. What separates no
// cells of the first row is part of a name.
func TestLinesAndSemicolons(t *testing.T) {
	_, _, err := read(t, put(t, "x.csv", "n,x,y\n\"a\nb\",1,a\n\n,old,b\n"), Options{Label: "y", Ignore: []string{"n"}, Classes: []string{"a", "b"}})
	if err == nil || !strings.Contains(err.Error(), "line 5, column x:") {
		t.Errorf("a number that is none in line 5: %v", err)
	}
	s, got, err := read(t, put(t, "x.tsv", "a;b\ty\n1\t0\n2\t1\n"), Options{Label: "y"})
	if err != nil || s.Columns[0].Name != "a;b" || !slices.Equal(got.Values, []float32{1, 2}) {
		t.Errorf("%+v, %+v, %v", s, got, err)
	}
	for name, text := range map[string]string{
		"height, cm":  "height, cm\ty\n1\t0\n2\t1\n",
		"height, in":  "\"height, in\";y\n1;0\n2;1\n",
		"a\tb":        "a\tb,y\n1,0\n2,1\n",
		"from; to, m": "\"from; to, m\",y\n1,0\n2,1\n",
	} {
		s, got, err := read(t, put(t, "x.csv", text), Options{Label: "y"})
		if err != nil || s.Columns[0].Name != name || !slices.Equal(got.Values, []float32{1, 2}) {
			t.Errorf("%q: %+v, %+v, %v", text, s, got, err)
		}
	}
}

// Labels of a regression are clipped in training only, and by their own constants only. Outputs are converted back to
// the unit of the file.
func TestNumbersToRegressOn(t *testing.T) {
	file := put(t, "x.csv", "y,x\n12,1\n-1,2\n6,3\n")
	s := infer(t, file, Options{
		Label: "y", Task: Regression,
		Clip:  map[string][2]float64{"y": {0, 10}, "*": {0, 2}},
		Scale: map[string][2]float64{"y": {5, 2}, "*": {0, 4}},
	})
	for use, want := range map[Use][]float32{Training: {2.5, -2.5, 0.5}, Testing: {3.5, -3, 0.5}} {
		got := reading(t, s, file, use)
		if !slices.Equal(got.Numbers, want) || got.Classes != nil || !slices.Equal(got.Values, []float32{0.25, 0.5, 0.5}) {
			t.Errorf("use %d: %+v, want labels %v", use, got, want)
		}
	}
	if l := s.Label; s.Outputs() != 1 || l.Number(3.5) != 12 || l.Difference(3.5) != 7 {
		t.Errorf("%d outputs; 3.5 is %v, and as a difference %v", s.Outputs(), l.Number(3.5), l.Difference(3.5))
	}
	s = infer(t, file, Options{Label: "y", Task: Regression, Clip: map[string][2]float64{"*": {0, 2}}, Scale: map[string][2]float64{"*": {0, 4}}})
	if got := reading(t, s, file, Training); !slices.Equal(got.Numbers, []float32{12, -1, 6}) || s.Label.Number(12) != 12 || s.Label.Difference(3) != 3 {
		t.Errorf("with constants of other columns the labels are %v", got.Numbers)
	}
}

// Without settings, task and classes are inferred from the public labels.
func TestTaskFollowsThePublicLabels(t *testing.T) {
	count := func(n int) (labels []string) {
		for i := range n {
			labels = append(labels, fmt.Sprint(i-3))
		}
		return labels
	}
	for name, c := range map[string]struct {
		labels  []string
		options Options
		task    Task
		classes []string
	}{
		"texts":              {[]string{"b", "a", "C", "a"}, Options{}, Classification, []string{"C", "a", "b"}},
		"whole numbers":      {[]string{"10", "9", "-2", "9.0"}, Options{}, Classification, []string{"-2", "9", "10"}},
		"numbers and a text": {[]string{"10", "9", "none"}, Options{}, Classification, []string{"10", "9", "none"}},
		"fractions":          {[]string{"1", "2", "2.5"}, Options{}, Regression, nil},
		"as many as classes": {count(MaxClasses), Options{}, Classification, count(MaxClasses)},
		"more":               {count(MaxClasses + 1), Options{}, Regression, nil},
		"more, asked for":    {count(MaxClasses + 1), Options{Task: Classification}, Classification, count(MaxClasses + 1)},
		"numbers, asked for": {[]string{"1", "2"}, Options{Task: Regression}, Regression, nil},
		"given":              {[]string{"1.0", "2"}, Options{Classes: []string{"3", "2", "1"}}, Classification, []string{"3", "2", "1"}},
	} {
		c.options.Label = "y"
		file := put(t, "x.csv", "x,y\n0,"+strings.Join(c.labels, "\n0,")+"\n")
		s := infer(t, file, c.options)
		if s.Label.Task != c.task || !slices.Equal(s.Label.Classes, c.classes) {
			t.Errorf("%s: %s of %v, want %s of %v", name, s.Label.Task, s.Label.Classes, c.task, c.classes)
		}
		if got := reading(t, s, file, Testing); name == "given" && !slices.Equal(got.Classes, []int32{2, 1}) {
			t.Errorf("%s: classes %v", name, got.Classes)
		}
	}
	for name, labels := range map[string]string{"one class": "a\n0,a", "no label": "a\n0,"} {
		if s, err := Infer(open(t, put(t, "x.csv", "x,y\n0,"+labels+"\n")), Options{Label: "y"}); err == nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// A released schema reads files as the original does.
func TestSchemaIsReadBack(t *testing.T) {
	file := put(t, "x.csv", people)
	regression := ofPeople()
	regression.Task, regression.Clip["y"], regression.Scale["y"] = Regression, [2]float64{0, 9}, [2]float64{1, 3}
	for _, o := range []Options{ofPeople(), regression} {
		s := infer(t, file, o)
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back *Schema
		if err := json.Unmarshal(text, &back); err != nil || back.Check() != nil {
			t.Fatalf("%s: %v, %v", text, err, back.Check())
		}
		for _, use := range []Use{Training, Testing, Predicting} {
			if got, want := reading(t, back, file, use), reading(t, s, file, use); !reflect.DeepEqual(got, want) {
				t.Errorf("use %d: %+v, want %+v", use, got, want)
			}
		}
	}
}

// Check refuses schemas that Infer doesn't return.
func TestSchemaCheckRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*Schema){
		"no label":           func(s *Schema) { s.Label.Name = "" },
		"label as a column":  func(s *Schema) { s.Columns[1].Name = "y" },
		"a column twice":     func(s *Schema) { s.Columns[1].Name = "colour" },
		"one class":          func(s *Schema) { s.Label.Classes = s.Label.Classes[:1] },
		"a class twice":      func(s *Schema) { s.Label.Classes[1] = s.Label.Classes[0] },
		"classes to regress": func(s *Schema) { s.Label.Task = Regression },
		"no task":            func(s *Schema) { s.Label.Task = "" },
		"a category twice":   func(s *Schema) { s.Columns[0].Categories[1] = "red" },
		"a category more":    func(s *Schema) { s.Columns[0].Categories = append(s.Columns[0].Categories, "pink") },
		"a scaled category":  func(s *Schema) { s.Columns[0].Scale = &Scale{1, 2} },
		"a shape":            func(s *Schema) { s.Columns[1].Shape = []int{2} },
		"a negative shape":   func(s *Schema) { s.Columns[1].Shape = []int{-1, -1} },
		"a divisor of 0":     func(s *Schema) { s.Columns[1].Scale.Divisor = 0 },
		"a tiny divisor":     func(s *Schema) { s.Columns[1].Scale.Divisor = 0x1p-1074 },
		"a clip upside down": func(s *Schema) { s.Columns[1].Clip.High = -1 },
		"a label's clip":     func(s *Schema) { s.Label.Clip = &Range{1, 1} },
		"another sample":     func(s *Schema) { s.Shape = []int{5} },
		"no columns":         func(s *Schema) { s.Columns, s.Shape = nil, []int{0} },
	} {
		s := infer(t, put(t, "x.csv", people), ofPeople())
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		if spoil(s); s.Check() == nil {
			t.Errorf("%s: %+v is taken", name, s)
		}
	}
}

// Wrong options are errors.
func TestWrongOptions(t *testing.T) {
	path := put(t, "x.csv", people)
	for name, c := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"no label":               {func(o *Options) { o.Label = "" }, "label: name the column"},
		"unknown label":          {func(o *Options) { o.Label = "z" }, `has no column "z"; it has y, colour, age, id, income`},
		"label ignored":          {func(o *Options) { o.Ignore = []string{"y"} }, "ignore: y is the label"},
		"unknown ignored":        {func(o *Options) { o.Ignore = []string{"z"} }, `no column "z"`},
		"unknown categories":     {func(o *Options) { o.Categories["z"] = []string{"a"} }, `no column "z"`},
		"unknown clip":           {func(o *Options) { o.Clip["z"] = [2]float64{0, 1} }, `no column "z"`},
		"unknown scale":          {func(o *Options) { o.Scale["z"] = [2]float64{0, 1} }, `no column "z"`},
		"categories of label":    {func(o *Options) { o.Categories["y"] = []string{"a"} }, "y is the label; list its classes"},
		"no categories":          {func(o *Options) { o.Categories["colour"] = nil }, "none; list them"},
		"a category twice":       {func(o *Options) { o.Categories["colour"] = []string{"a", "a"} }, `"a" stands twice`},
		"a category with blanks": {func(o *Options) { o.Categories["colour"] = []string{"a "} }, "begins or ends with a blank"},
		"categories scaled":      {func(o *Options) { o.Scale["colour"] = [2]float64{0, 1} }, "colour has categories"},
		"clip upside down":       {func(o *Options) { o.Clip["age"] = [2]float64{2, 1} }, "clip of age"},
		"clip not a number":      {func(o *Options) { o.Clip["age"] = [2]float64{math.NaN(), 1} }, "clip of age"},
		"divisor below 0":        {func(o *Options) { o.Scale["age"] = [2]float64{0, -1} }, "scale of age"},
		"classes scaled":         {func(o *Options) { o.Scale["y"] = [2]float64{0, 1} }, "y holds classes"},
		"task":                   {func(o *Options) { o.Task = "ranking" }, `task: "ranking"`},
		"classes to regress":     {func(o *Options) { o.Task, o.Classes = Regression, []string{"a", "b"} }, "regression has none"},
		"a class twice":          {func(o *Options) { o.Classes = []string{"a", "a"} }, `"a" stands twice`},
		"an empty class":         {func(o *Options) { o.Classes = []string{"", "a"} }, "an empty one"},
		"nothing left":           {func(o *Options) { *o = Options{Label: "y", Ignore: []string{"colour", "age", "id", "income"}} }, "no column is left"},
	} {
		o := ofPeople()
		c.change(&o)
		if s, err := Infer(open(t, path), o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v, want %q", name, s, err, c.want)
		}
	}
}

// By hand: 2, 4, 4, 4, 5, 5, 7, 9 have mean 5 and standard deviation 2.
func TestDescribe(t *testing.T) {
	d, err := open(t, put(t, "x.csv", "a,b,c\n2,x,1\n4,,1\n4,y,1\n,x,1\n4,x,1\n5,x,1\n5,x,1\n7,x,1\n9,1,1\n")).Describe(Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := Description{Rows: 9, Columns: []Summary{
		{Name: "a", Missing: 1, Numbers: true, Whole: true, Low: 2, High: 9, Mean: 5, Deviation: 2, Median: 4, Categories: []string{"2", "4", "5", "7", "9"}, Counts: []int{1, 3, 2, 1, 1}},
		{Name: "b", Missing: 1, Texts: 7, Text: "x", Categories: []string{"1", "x", "y"}, Counts: []int{1, 6, 1}},
		{Name: "c", Numbers: true, Whole: true, Low: 1, High: 1, Mean: 1, Median: 1, Categories: []string{"1"}, Counts: []int{9}, Useless: "always the same: 1"},
	}}
	if len(d.Columns) == 3 && math.Abs(d.Columns[0].Deviation-2) < 1e-12 {
		d.Columns[0].Deviation = 2
	}
	if !reflect.DeepEqual(d, want) {
		t.Errorf("got  %+v\nwant %+v", d, want)
	}
	for _, c := range []struct {
		mean, deviation float64
		want            [2]float64
	}{
		{38.5816, 13.6404, [2]float64{38.6, 13.6}},
		{1234.5, 0.0123456, [2]float64{1234.5, 0.0123}}, // 1230 would be hundreds of deviations off
		{-2007.456, 7.21, [2]float64{-2007.5, 7.21}},
		{0, 2, [2]float64{0, 2}},
	} {
		if scale, ok := (Summary{Numbers: true, Mean: c.mean, Deviation: c.deviation}).Suggested(); !ok || scale != c.want {
			t.Errorf("of mean %v and deviation %v it suggests %v, %v", c.mean, c.deviation, scale, ok)
		}
	}
	for _, s := range want.Columns[1:] {
		if scale, ok := s.Suggested(); ok {
			t.Errorf("of %+v it suggests %v", s, scale)
		}
	}
}
