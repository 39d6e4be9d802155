package table

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func textsOf(s *Samples) (out []string) {
	for _, text := range s.Texts {
		out = append(out, string(text))
	}
	return out
}

// Texts are read unchanged, except for blanks around them; an empty cell is an empty text, and NA is a word.
func TestTextsAreRead(t *testing.T) {
	f := open(t, put(t, "x.csv", "id,review,y\n1,\" A good\nfilm, \"\"really\"\". \",pos\n2,,neg\n3,NA,neg\n4,12.50,pos\n"))
	s, err := Infer(f, Options{Label: "y", Text: "review", Ignore: []string{"id"}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Shape, []int{256}) || s.Text() == nil || s.Text().Length != 256 {
		t.Errorf("shape %v, text %v", s.Shape, s.Text())
	}
	rows, err := s.Read(f, Training)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"A good\nfilm, \"really\".", "", "NA", "12.50"}
	if got := textsOf(rows); !slices.Equal(got, want) || rows.N != 4 || len(rows.Values) != 0 || !slices.Equal(rows.Classes, []int32{1, 0, 0, 1}) {
		t.Errorf("texts %q, classes %v, %d values", got, rows.Classes, len(rows.Values))
	}
	some := rows.Only([]int32{3, 0})
	if got := textsOf(some); !slices.Equal(got, []string{"12.50", want[0]}) || !slices.Equal(some.Classes, []int32{1, 1}) {
		t.Errorf("some rows: %q, %v", got, some.Classes)
	}
	if spans := s.Spans(rows); len(spans) != 1 || len(spans[0]) > 0 {
		t.Errorf("spans of texts: %v", spans)
	}
}

// Options that contradict each other name the culprit, and what to do.
func TestTextOptions(t *testing.T) {
	const file = "id,review,stars,y\n1,a film,3,pos\n2,b,4,neg\n"
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Label: "y", Text: "review"}, "text: review is learned from alone, and there are id, stars too; leave them out by --ignore id,stars"},
		{Options{Label: "y", Text: "rewiev"}, `text: FILE has no column "rewiev"`},
		{Options{Label: "y", Text: "y"}, "is the label"},
		{Options{Label: "y", Text: "review", Ignore: []string{"review"}}, "is ignored"},
		{Options{Label: "y", Text: "review", Unit: "review"}, "says whose a row is"},
		{Options{Label: "y", Text: "review", TextLength: 1}, "1 tokens: want 2 to 16384"},
		{Options{Label: "y", Text: "review", TextLength: 1<<14 + 1}, "want 2 to 16384"},
		{Options{Label: "y", TextLength: 5}, "no column of texts"},
		{Options{Label: "y", Text: "review", Clip: map[string][2]float64{"review": {0, 1}}}, "no categories, missing, clip or scale"},
		{Options{Label: "y", Text: "review", Categories: map[string][]string{"review": {"a", "b"}}}, "no categories"},
		{Options{Label: "y", Text: "review", Columns: []string{"id"}, Ignore: []string{"stars"}}, "also has review"},
	} {
		f := open(t, put(t, "x.csv", file))
		_, err := Infer(f, c.o)
		var option *OptionError
		if want := strings.ReplaceAll(c.want, "FILE", f.path); err == nil || !strings.Contains(err.Error(), want) || c.o.Columns == nil && !errors.As(err, &option) {
			t.Errorf("%+v: %v, want %s", c.o, err, want)
		}
	}
	f := open(t, put(t, "x.csv", file))
	s, err := Infer(f, Options{Label: "y", Text: "review", TextLength: 7, Unit: "id", Ignore: []string{"stars"}, Clip: map[string][2]float64{All: {0, 1}}})
	if err != nil || !slices.Equal(s.Shape, []int{7}) || s.Columns[0].Clip != nil {
		t.Errorf("%+v, %v", s, err)
	}
}

// Files that share no text share no row, even if all labels are equal; shared texts are found.
func TestOverlapOfTexts(t *testing.T) {
	var a, b strings.Builder
	a.WriteString("review,y\n")
	b.WriteString("review,y\n")
	for i := range 40 {
		a.WriteString("private " + strings.Repeat("x", i) + " film,pos\n")
		b.WriteString("public " + strings.Repeat("x", i) + " film,pos\n")
	}
	read := func(text string) (*Schema, *Samples) {
		f := open(t, put(t, "x.csv", text))
		s, err := Infer(f, Options{Label: "y", Text: "review", Classes: []string{"neg", "pos"}})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := s.Read(f, Testing)
		if err != nil {
			t.Fatal(err)
		}
		return s, rows
	}
	s, private := read(a.String())
	_, public := read(b.String())
	if o := s.Overlap(private, public); o.Shared != 0 || o.Distinct != 40 || o.All() || o.Many() {
		t.Errorf("different texts: %+v", o)
	}
	if o := s.Overlap(private, private); o.Shared != 40 || !o.All() {
		t.Errorf("the same texts: %+v", o)
	}
}

// A schema that was read from a file may have any values.
func TestHostileTextSchemas(t *testing.T) {
	label := Label{Name: "y", Task: Classification, Classes: []string{"a", "b"}}
	text := func(n int) *Text { return &Text{Length: n} }
	ok := Schema{Label: label, Columns: []Column{{Name: "x", Text: text(9)}}, Shape: []int{9}}
	if err := ok.Check(); err != nil {
		t.Fatal(err)
	}
	for _, s := range []Schema{
		{Label: label, Columns: []Column{{Name: "x", Text: text(9)}}, Shape: []int{8}},
		{Label: label, Columns: []Column{{Name: "x", Text: text(0)}}, Shape: []int{0}},
		{Label: label, Columns: []Column{{Name: "x", Text: text(-4)}}, Shape: []int{-4}},
		{Label: label, Columns: []Column{{Name: "x", Text: text(1 << 40)}}, Shape: []int{1 << 40}},
		{Label: label, Columns: []Column{{Name: "x", Text: text(9)}, {Name: "z"}}, Shape: []int{10}},
		{Label: label, Columns: []Column{{Name: "x", Text: text(9)}, {Name: "z", Text: text(9)}}, Shape: []int{18}},
		{Label: label, Columns: []Column{{Name: "x", Text: text(9), Shape: []int{9}}}, Shape: []int{9}},
		{Label: label, Columns: []Column{{Name: "x", Text: text(9), Categories: []string{"a"}}}, Shape: []int{9}},
		{Label: label, Columns: []Column{{Name: "x", Text: text(9), Missing: &Missing{}}}, Shape: []int{9}},
		{Label: label, Columns: []Column{{Name: "x", Text: text(9), Scale: &Scale{0, 1}}}, Shape: []int{9}},
	} {
		if err := s.Check(); err == nil {
			t.Errorf("no error of %+v", s)
		}
	}
}

func TestTextsFromColumns(t *testing.T) {
	o, err := ParseColumns("id:ignore,review:text,y:neg|pos", "y")
	if err != nil || o.Text != "review" {
		t.Fatalf("%+v, %v", o, err)
	}
	s, err := SchemaOf(o)
	if err != nil || s.Text() == nil || !slices.Equal(s.Shape, []int{defaultTextLength}) {
		t.Errorf("%+v, %v", s, err)
	}
	for _, text := range []string{"review:text,age:number:0..9,y:0|1", "a:text,b:text,y:0|1", "y:text", "a:text:9,y:0|1"} {
		if _, err := ParseColumns(text, "y"); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

// Long and mostly different texts are prose; names, codes and categories aren't.
func TestProseIsDescribed(t *testing.T) {
	f := open(t, put(t, "x.csv", "review,name,kind,y\nI liked this film very much,Ann Lee,long category name of several words,1\n"+
		"It was far too long for me,Bob Ray,long category name of several words,0\nA film for all and every day,Cy Day,another category name of several words,1\n"+
		"Not a film for me I fear,Di Fox,another category name of several words,0\n"))
	d, err := f.Describe(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false, false, false} {
		if c := d.Columns[i]; c.Prose != want || want && !strings.Contains(c.Useless, "to learn from them alone, ignore") {
			t.Errorf("%s: prose %t, %s", c.Name, c.Prose, c.Useless)
		}
	}
}
