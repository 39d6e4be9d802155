package table

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// If two classes are the same number, only the last would have rows. A single class leaves nothing to predict. Both are
// wrong settings for any file.
func TestWrongClasses(t *testing.T) {
	file := put(t, "x.csv", "a,y\n1,0\n2,1\n")
	for want, classes := range map[string][]string{
		`"1" and "1.0" are the same number`: {"0", "1", "1.0"},
		`"1e1" and "10" are the same`:       {"1e1", "2", "10"},
		`"0" is the only one`:               {"0"},
		`"a" stands twice`:                  {"a", "b", "a"},
	} {
		_, err := Infer(open(t, file), Options{Label: "y", Classes: classes})
		var option *OptionError
		if !errors.As(err, &option) || option.Option != "classes" || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", classes, err, want)
		}
		s := Schema{Label: Label{Name: "y", Task: Classification, Classes: classes}, Columns: []Column{{Name: "a"}}, Shape: []int{1}}
		if s.Check() == nil {
			t.Errorf("%q: no error of a schema", classes)
		}
	}
}

// Names are looked up, not searched for: a list of half a million took hours.
func TestManyNames(t *testing.T) {
	const n = 500_000
	s := Schema{Label: Label{Name: "y", Task: Classification}, Shape: []int{2 * n}}
	list := make([]string, n)
	for i := range n {
		list[i] = fmt.Sprint("c", i)
		s.Columns = append(s.Columns, Column{Name: list[i]})
	}
	s.Columns = append(s.Columns, Column{Name: "list", Categories: list})
	s.Label.Classes = list
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	wanted := s.wanted(nil, Predicting)
	for _, name := range list {
		if !wanted(name) {
			t.Fatal(name)
		}
	}
	if wanted("y") || wanted("z") || !s.wanted(nil, Training)("y") {
		t.Error("wrong columns")
	}
}
