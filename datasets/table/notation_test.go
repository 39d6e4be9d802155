package table

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Numbers are read as people save them, or are an error that says which setting decides.
func TestNotations(t *testing.T) {
	for name, c := range map[string]struct {
		cells string // of column x, one a line, in a file of semicolons unless a header is among them
		given string // Options.Written
		want  []float32
		as    string // Column.Written, or what the error says
	}{
		"decimal commas":       {"33,4\n22\n-1,25e1", "", []float32{33.4, 22, -12.5}, "1,5"},
		"thousands, by a hint": {"1.234\n365\n1.000,5", "", []float32{1234, 365, 1000.5}, "1,5"},
		"thousands or not":     {"1.234\n365", "", nil, `such as "1.234", whose sign may be a decimal one or not; say by --written x=1,5`},
		"thousands, as told":   {"1.234\n365", "1,5", []float32{1234, 365}, "1,5"},
		"an example of either": {"1.234\n365", "1.234", nil, `written: x: "1.234"; want a number`},
		"points, as told":      {"1.234\n365", "1.5", []float32{1.234, 365}, "1.5"},
		"points":               {"1.234\n0.5", "", []float32{1.234, 0.5}, ""},
		"whole numbers":        {"12\n7", "", []float32{12, 7}, "1"},
		"whole per cent":       {"48 %\n7%", "", []float32{48, 7}, "1%"},
		"blanks":               {"1\u00a0234,5\n7", "", []float32{1234.5, 7}, "1,5"},
		"apostrophes":          {"1'234.5\n7", "", []float32{1234.5, 7}, "1.5"},
		"percent":              {"48,1%\n50 %", "", []float32{48.1, 50}, "1,5%"},
		"currency":             {"€ 12,50\n€1.250,00\n-€3,5\n€ -3,5", "", []float32{12.5, 1250, -3.5, -3.5}, "€1,5"},
		"typographic minuses":  {"x,y\n\u22121.5,1\n2,0", "", []float32{-1.5, 2}, "1.5"},
		"accountants' minuses": {"(18)\n2", "(18)", nil, `written: x: "(18)"; want a number`},
		"a group of zeros":     {"012.345,5\n1,5", "1,5", nil, "line 2, column x: not written as 1,5"},
		"moments of duckdb":    {"1970-01-02 12:00:00+00:00\n1970-01-02 14:00:00+02\n1970-01-02 00:00", "date", []float32{1.5, 1.5, 1}, "date"},
		"two minuses":          {"€ 12,50\n€ 2\n-€ -3,5", "", nil, "line 4, column x: not written as €1,5"},
		"a unit":               {"144.4 mmHg\n99 mmHg", "", []float32{144.4, 99}, "1.5 mmHg"},
		"two units":            {"144.4 mmHg\n19 kPa", "", nil, "not a plain number"},
		"Excel's texts":        {"=(\"144.4\")\n=(\"7\")", "", []float32{144.4, 7}, `=("1.5")`},
		"unquoted ones":        {"x,y\n=\"144.4\",1\n=\"7\",0", "", []float32{144.4, 7}, `="1.5"`},
		"an open quote":        {"x,y\n=\"1\",1\n2,\"0\n3,1", "", nil, "line 3: cell 2 has several lines"},
		"dates":                {"1970-01-03\n1970-01-02T12:00:00Z\n1970-01-02 12:00:00+00:00", "date", []float32{2, 1.5, 1.5}, "date"},
		"below zero":           {"-1.234,5\n,5", "", []float32{-1234.5, 0.5}, "1,5"},
		"no group of zero":     {"0,123\n1", "1.5", nil, "line 2, column x: not written as 1.5"},
		"no group of four":     {"1\n1234,567", "1.5", nil, "line 3, column x: not written as 1.5"},
		"another currency":     {"$1.5\n€2.5", "$1.5", nil, "line 3, column x: not written as $1.5"},
		"commas and points":    {"1,5\n1.5", "", nil, `such as "1,5", whose sign`},
		"American":             {"x,y\n\"$1,234.50\",1\n$7,0", "", []float32{1234.5, 7}, "$1.5"},
		"American thousands":   {"x,y\n\"1,234\",1\n365,0", "", nil, `not a plain number; say how the file writes numbers by --written x=EXAMPLE`},
		"American millions":    {"x,y\n\"1,234,567\",1\n\"1,234\",0", "", []float32{1234567, 1234}, "1.5"},
		"plain":                {"x,y\n1.234,1\n365,0", "", []float32{1.234, 365}, ""},
		"commas between":       {"x,y\n\"33,4\",1\n12,0", "", nil, "not a plain number"},
		"two signs":            {"1,5;1.5\n1.234;1.5", "1,5", []float32{1.5, 1.5, 1234, 1.5}, "1,5"},
	} {
		text := c.cells
		switch {
		case name == "two signs":
			text = "x;z;y\n" + strings.ReplaceAll(text, "\n", ";1\n") + ";0\n"
		case !strings.HasPrefix(text, "x,y"):
			text = "x;y\n" + strings.ReplaceAll(strings.ReplaceAll(text, `"`, `""`), "\n", "\";1\n\"") + "\";0\n"
			text = strings.Replace(text, "\n", "\n\"", 1)
		}
		o := Options{Label: "y"}
		if c.given != "" {
			o.Written = map[string]string{"x": c.given}
		}
		s, got, err := read(t, put(t, "x.csv", text), o)
		switch {
		case c.want == nil:
			if err == nil || !strings.Contains(err.Error(), c.as) {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		case err != nil || !slices.Equal(got.Values, c.want) || s.Columns[0].Written != c.as:
			t.Errorf("%s: %+v, %+v, %v", name, got, s, err)
		}
	}
}

// A public file's decimal sign is that of all its columns which don't show another: of whole numbers, of the label, of
// numbers among words. Private cells that it leaves open are errors.
func TestHabits(t *testing.T) {
	commas := "a;b;y\n1;2,5;3,5\n2;<5;4\n"
	for name, c := range map[string]struct {
		public, private string
		words           []string // of b
		values          []float32
		label           float32
		wrong           string
	}{
		"of commas":             {commas, "a;b;y\n1.041;33,4;1.000\n", []string{"<5"}, []float32{1041, 33.4}, 1000, ""},
		"a word with a digit":   {commas, "a;b;y\n1.041;1.234;1,0\n", []string{"<5"}, []float32{1041, 1234}, 1, ""},
		"a number for missing":  {commas, "a;b;y\n1;-9,90;1\n", []string{"-9,9", "<5"}, []float32{1, 0}, 1, ""},
		"points among them":     {commas, "a;b;y\n1;33.4;1\n", []string{"<5"}, nil, 0, "line 2, column b: not written as 1,5"},
		"of points":             {"a;b;y\n1;2.5;1\n2;3;2\n", "a;b;y\n1.041;2;3.125\n", nil, []float32{1.041, 2}, 3.125, ""},
		"none":                  {"a;b;y\n1;2;1\n2;3;2\n", "a;b;y\n1;1.041;1\n", nil, nil, 0, "line 2, column b: not written as 1,"},
		"none, and a unit":      {"a,b,y\n1,2%,1\n2,3%,2\n", "a,b,y\n1,\"48,125 %\",1\n", nil, nil, 0, "line 2, column b: not written as 1%"},
		"no number":             {"a;b;y\n1,5;<5;1\n2;<5;2\n", "a;b;y\n1;1.041;1\n", []string{"<5"}, []float32{1, 1041}, 1, ""},
		"both":                  {"a;b;c;y\n1,5;2.5;1;1\n2;3;1;2\n", "a;b;c;y\n1;1;1.041;1\n", nil, nil, 0, "line 2, column c: not written as 1,"},
		"both, a sign that may": {"a;b;c;y\n1,5;2.5;1.041;1\n2;3;1;2\n", "", nil, nil, 0, `column c: numbers such as "1.041"`},
	} {
		o := Options{Label: "y", Task: Regression}
		if strings.Contains(c.public, "<5") {
			o.Missing = map[string]Missing{"b": {Words: c.words}}
		}
		s, _, err := read(t, put(t, "x.csv", c.public), o)
		if err == nil {
			var got *Samples
			if got, err = s.Read(open(t, put(t, "y.csv", c.private)), Training); err == nil && (!slices.Equal(got.Values, c.values) || got.Numbers[0] != c.label) {
				t.Errorf("%s: %+v", name, got)
			}
		}
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, column := range []string{All, "y"} {
		if err := (Options{Label: "y", Written: map[string]string{column: asDate}}).Validate(); err == nil {
			t.Errorf("dates in %s", column)
		}
	}
	// What is no amount is read as before: lists, codes, sizes, addresses.
	for _, column := range []string{"255 128 100,12 0 3", "560 001,560 002", "2XL,3XL", "1A,2A", "1.2.3,1.2", "31.12.2024,1.1.2024", "0012A,0013A", "5 years,3 months", "1.,2."} {
		cells := strings.Split(column, ",")
		text := "x;c;y\n"
		for i := range 12 {
			text += fmt.Sprintf("%d,5;%s;%d\n", i*i%7, cells[i%len(cells)], i%2)
		}
		o := Options{Label: "y", Categories: map[string][]string{"c": cells}}
		d, err := open(t, put(t, "x.csv", text)).Describe(Options{})
		if numbers := column == "1.,2."; err != nil || !d.Columns[0].Numbers || d.Columns[1].Numbers != numbers || !slices.Equal(d.Columns[1].Categories, cells) && !slices.Equal(d.Columns[1].Categories, []string{cells[1], cells[0]}) {
			t.Errorf("%s: %+v, %v", column, d.Columns, err)
		}
		if s, got, err := read(t, put(t, "x.csv", text), o); err != nil || got.Values[1] != 1 || s.Columns[0].Written != "1,5" {
			t.Errorf("%s: %+v, %v", column, got, err)
		}
	}
	// An address has groups, and says nothing of other columns.
	if _, _, err := read(t, put(t, "x.csv", "ip;x;y\n192.168.100.101;1.234;1\n192.168.100.102;2.345;2\n"), Options{Label: "y"}); err == nil || !strings.Contains(err.Error(), `column x: numbers such as "2.345"`) {
		t.Error(err)
	}
	// Categories and words are the file's own, also beside numbers.
	d, err := open(t, put(t, "x.csv", "x;c;y\n1,5;1,5;1,5\n2,5;A;2\n3;B;2\n3;B;2\n3,5;A;2\n")).Describe(Options{})
	if err != nil || !slices.Equal(d.Columns[1].Categories, []string{"1,5", "A", "B"}) {
		t.Errorf("%+v, %v", d, err)
	}
	o := Options{Label: "y", Written: map[string]string{"x": "1 mg"}, Missing: map[string]Missing{"x": {Words: []string{"5", "9.999 mg"}}}}
	if _, got, err := read(t, put(t, "x.csv", "x;y\n5 mg;a\n5;b\n1e+05 mg;a\n"), o); err != nil || !slices.Equal(got.Values, []float32{5, 0, 1e5}) {
		t.Errorf("%+v, %v", got, err)
	}
	// Classes are numbers, too: 1 and 1.000 are two, and 1 and 1,0 one.
	s, got, err := read(t, put(t, "x.csv", "a;y\n1,5;1\n2;1.000\n3;1,0\n"), Options{Label: "y"})
	if err != nil || !slices.Equal(s.Label.Classes, []string{"1", "1000"}) || !slices.Equal(got.Classes, []int32{0, 1, 0}) {
		t.Errorf("%+v, %+v, %v", s, got, err)
	}
	// Listed classes are the file's, and among words they are texts.
	if s, got, err := read(t, put(t, "x.csv", "a;y\n1,5;2.000\n2;1.000\n"), Options{Label: "y", Classes: []string{"1.000", "2.000"}}); err != nil || !slices.Equal(got.Classes, []int32{1, 0}) {
		t.Errorf("%+v, %+v, %v", s, got, err)
	}
	if s, got, err := read(t, put(t, "x.csv", "a;y\n1,5;1.1\n2;1,1\n3;A\n4;B\n5;A\n"), Options{Label: "y"}); err != nil || !slices.Equal(s.Label.Classes, []string{"1,1", "1.1", "A", "B"}) || !slices.Equal(got.Classes, []int32{1, 0, 2, 3, 2}) {
		t.Errorf("%+v, %+v, %v", s, got, err)
	}
}

// A number that stands for a missing value, without the unit, doesn't hide how the others are written.
func TestMissingNumberWithoutUnit(t *testing.T) {
	for _, cells := range []string{"99;1\n1,5%;0\n2,5%;1\n", "1,5%;0\n99;1\n2,5%;1\n"} {
		o := Options{Label: "y", Missing: map[string]Missing{"x": {Words: []string{"99"}}}}
		s, got, err := read(t, put(t, "x.csv", "x;y\n"+cells), o)
		if err != nil || s.Columns[0].Written != "1,5%" || !slices.Contains(got.Values, 1.5) || !slices.Contains(got.Values, 0) {
			t.Errorf("%q: %+v, %+v, %v", cells, s, got, err)
		}
	}
}
