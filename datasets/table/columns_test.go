package table

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseColumns(t *testing.T) {
	o, err := ParseColumns(` age : number : 0..120 ,sex:F|M,"a:b, ""c""|":x|"y,z"|*|,id:ignore,image:number[2x3]:-1e1..10,income:0|1,`, "income")
	if err != nil {
		t.Fatal(err)
	}
	want := Options{
		Label: "income", Task: Classification, Classes: []string{"0", "1"}, Ignore: []string{"id"},
		Columns:    []string{"age", "sex", `a:b, "c"|`, "image", "income"},
		Missing:    map[string]Missing{},
		Shapes:     map[string][]int{"image": {2, 3}},
		Categories: map[string][]string{"sex": {"F", "M"}, `a:b, "c"|`: {"x", "y,z", "*", ""}},
		Clip:       map[string][2]float64{"age": {0, 120}, "image": {-10, 10}},
		Scale:      map[string][2]float64{"age": {60, 34.6}, "image": {0, 5.77}}, // half the width over the root of 3
	}
	if !reflect.DeepEqual(o, want) {
		t.Errorf("got  %+v\nwant %+v", o, want)
	}
	o, err = ParseColumns(`a:number:0..10:missing,b:number:0..1:missing=-3.5,c:number[2]:0..4:missing=1,y:0|1`, "y")
	if want := map[string]Missing{"a": {Fill: 5, Indicator: true}, "b": {Fill: -3.5, Indicator: true}, "c": {Fill: 1}}; err != nil || !reflect.DeepEqual(o.Missing, want) {
		t.Errorf("%+v, %v", o.Missing, err)
	}
	o, err = ParseColumns(`"number":"ignore"|"number:1",y:number:1000000..1000100`, "y")
	if err != nil {
		t.Fatal(err)
	}
	if o.Task != Regression || o.Scale["y"] != [2]float64{1000050, 28.9} || o.Categories["number"][1] != "number:1" {
		t.Errorf("%+v", o)
	}
}

func TestWrongColumns(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "column 1 has no name",
		"a,y:0|1":                               "a: nothing about it; write behind a colon one of: number:LOW..HIGH",
		"a:number,y:0|1":                        "a: no range; write a:number:LOW..HIGH",
		"a:number:5..5,y:0|1":                   `a: range "5..5"; write LOW..HIGH`,
		"a:number:0..1e309,y:0|1":               `a: range "0..1e309"`,
		"a:number:0..NaN,y:0|1":                 `a: range "0..NaN"`,
		"a:number:0...120,y:0|1":                `a: range "0...120"; write LOW..HIGH`,
		"a:number:0..1e-320,y:0|1":              "too wide or too narrow",
		"a:number:0..1:3,y:0|1":                 `a: "3" behind its range`,
		"a:number:0..1:missing=,y:0|1":          `a: "missing=" behind its range`,
		"a:number:0..1:missingx,y:0|1":          `a: "missingx" behind its range`,
		"a:number:0..1:missing:1,y:0|1":         `a: "missing" behind its range`,
		"a:number:0..1,y:number:0..1:missing":   `y: "missing" behind its range`,
		"a:number[0x2]:0..1,y:0|1":              "a: number[0x2]: want a shape",
		"a:number[2:0..1,y:0|1":                 "a: number[2: want a shape",
		"a:number:0..1,y:number[2]:0..1":        "y: number[2]: want a shape such as number[28x28], and none for the label",
		"a:nomber:0..1,y:0|1":                   `a: "nomber" isn't number`,
		"a:0..1,y:0|1":                          `a: "0..1" is a single category`,
		"a:x|x,y:0|1":                           `a: categories: "x" stands twice`,
		"a:number:0..1,a:ignore,y:0|1":          "a stands twice",
		"a:number:0..1,y:0|1,y:0|2":             "y stands twice",
		`" a":ignore,a:number:0..1,y:0|1`:       "a stands twice",
		"a:text,b:text,y:0|1":                   "b: texts, as a has; one column has them",
		"a:number:0..1":                         "the label y isn't among them",
		"a:number:0..1,y":                       "y: nothing about it; write behind a colon one of: classes",
		"a:number:0..1,y:ignore":                "y: the label can't be ignored",
		"a:number:0..1,y:0":                     `y: "0" is a single category; write one of: classes`,
		"a:number:0..1,y:0|*":                   "y: a class must be written out",
		"a:number:0..1,y:0|":                    "y: a class must be written out",
		"a:number:0..1,y:1|1.0":                 `y: classes: "1" and "1.0" are the same number`,
		"y:0|1,a:ignore":                        "none is left to learn from",
		`a"b:number:0..1,y:0|1`:                 "column 1: a quote isn't closed, or isn't around the whole text",
		`"ab:number:0..1,y:0|1`:                 "column 1: a quote isn't closed",
		`c:ignore,"ab"c:number:0..1,y:0|1`:      "column 2: a quote isn't closed, or isn't around",
		"a|b:number:0..1,y:0|1":                 "column 1 has no name, or a bar in it",
		",a:number:0..1,y:0|1":                  "column 1 has no name",
		`a:"number":0..1,y:0|1`:                 `a: "number" isn't number`,
		"a:number:0..1:,y:0|1":                  `a: "" behind its range`,
		"a:number[4096x4096x2]:0..1,y:0|1":      "column a: shape [4096 4096 2]: want 1 to",
		"a:number[" + "1x" + "1]:0..1,y:0|1,,b": "column 3 has no name",
	} {
		_, err := ParseColumns(text, "y")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := ParseColumns("a:number:0..1,y:0|1", ""); err == nil {
		t.Error("no label")
	}
}

// quote writes a text in the quotes of a list of columns.
func quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// Any names and categories, when quoted, are read back, and give a schema.
func TestColumnsAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-z,:|"*. ]{0,6}[a-z]`).Filter(func(s string) bool { return s == strings.TrimSpace(s) })
		names := rapid.SliceOfNDistinct(name, 2, 6, rapid.ID[string]).Draw(t, "names")
		label := names[0]
		var written []string
		want := map[string]string{}
		for i, n := range names {
			list := rapid.SliceOfNDistinct(name, 2, 4, rapid.ID[string]).Draw(t, "list")
			low := rapid.Float64Range(-1e6, 1e6).Draw(t, "low")
			if i > 0 && rapid.Bool().Draw(t, "number") {
				high := low + rapid.Float64Range(1, 1e6).Draw(t, "width")
				written = append(written, fmt.Sprintf("%s:number:%v..%v", quote(n), low, high))
				want[n] = fmt.Sprintf("number %v %v", low, high)
				continue
			}
			var quoted []string
			for _, c := range list {
				quoted = append(quoted, quote(c))
			}
			written = append(written, quote(n)+":"+strings.Join(quoted, "|"))
			want[n] = fmt.Sprintf("%q", list)
		}
		o, err := ParseColumns(strings.Join(written, ", "), label)
		if err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		s, err := SchemaOf(o)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%q", s.Label.Classes); s.Label.Name != label || got != want[label] {
			t.Fatalf("label %s: %s, want %s", label, got, want[label])
		}
		if len(s.Columns) != len(names)-1 {
			t.Fatalf("%d columns of %d", len(s.Columns), len(names))
		}
		for i, c := range s.Columns {
			got := fmt.Sprintf("%q", c.Categories)
			if c.Clip != nil {
				got = fmt.Sprintf("number %v %v", c.Clip.Low, c.Clip.High)
				if low, high := c.Scale.apply(c.Clip.Low), c.Scale.apply(c.Clip.High); math.Abs(low+1.73) > 0.06 || math.Abs(high-1.73) > 0.06 {
					t.Fatalf("%s: the range becomes %v to %v", c.Name, low, high)
				}
			}
			if c.Name != names[i+1] || got != want[c.Name] {
				t.Fatalf("%s: %s, want %s: %s", c.Name, got, names[i+1], want[names[i+1]])
			}
		}
	})
}

func FuzzParseColumns(f *testing.F) {
	for _, text := range []string{exampleColumns, `"a:b":number:0..1,income:x|"y|z"`, "a:number[2x3]:-1..1,income:number:0..5", `"`, "a:|,income:|"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o, err := ParseColumns(text, "income")
		if err != nil {
			return
		}
		s, err := SchemaOf(o)
		if err != nil || s.Check() != nil {
			t.Fatalf("%q: %v, %v", text, err, s.Check())
		}
	})
}
