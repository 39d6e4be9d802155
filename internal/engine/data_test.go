package engine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
)

// Check checks every integer against the rows of its tables, and its error names the first integer that is no row. A
// column that a prediction doesn't read may hold any values.
func TestIntegersPickRows(t *testing.T) {
	p := enginetest.Zoo()["two tables by one input"].Program(t, 1) // with 5 rows and with 8; four indices a sample
	for _, c := range []struct {
		at    int
		value int32
		want  string
	}{
		{0, 0, ""}, {11, 4, ""},
		{0, 5, `sample 0, value 0 is 5; input "ids" takes 0 to 4`},
		{11, 7, `sample 2, value 3 is 7; input "ids" takes 0 to 4`},
		{6, -1, `sample 1, value 2 is -1; input "ids" takes 0 to 4`},
	} {
		data := enginetest.RandomData(p, 3, 1)
		data.Columns[0].Ints[c.at] = c.value
		for _, check := range []func(*compile.Program) error{data.Check, data.CheckPredict} {
			err := check(p)
			var fault *engine.FieldError
			if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &fault) || fault.Field != "Data.Columns[0]" || fault.Problem != c.want) {
				t.Errorf("value %d at %d: got %v, want %q", c.value, c.at, err, c.want)
			}
		}
	}
	p.Predict, p.Output = nil, compile.Tensor{Value: compile.None}
	data := enginetest.RandomData(p, 3, 1)
	data.Columns[0].Ints[3] = 99
	if err := data.CheckPredict(p); err != nil {
		t.Errorf("an index that no prediction reads: %v", err)
	}
	if err := data.Check(p); err == nil || !strings.Contains(err.Error(), "99") {
		t.Errorf("an index that training reads: %v", err)
	}
}
