package table

import "testing"

// A nil schema, as after an overlooked error, gives errors, and samples without rows share no rows.
func TestNoSchemaAndNoRows(t *testing.T) {
	var s *Schema
	file := open(t, put(t, "x.csv", "x,y\n1,2\n"))
	_, read := s.Read(file, Training)
	_, counted := s.Count(file)
	if s.Check() == nil || read != errNoSchema || counted != errNoSchema {
		t.Errorf("check %v, read %v, count %v", s.Check(), read, counted)
	}
	one := &Samples{N: 1, Values: []float32{1}, Numbers: []float32{1}}
	number := &Schema{Label: Label{Task: Regression}}
	for _, o := range []Overlap{number.Overlap(&Samples{}, one), number.Overlap(one, &Samples{}), number.Overlap(&Samples{}, &Samples{})} {
		if o.All() || o.Many() || o.Shared != 0 {
			t.Errorf("%+v: no rows are shared", o)
		}
	}
}
