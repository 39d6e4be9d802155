package enginetest_test

import (
	"fmt"
	"testing"

	"github.com/dptrain/dptrain/train/compile"
	"github.com/dptrain/dptrain/train/cpu"
	"github.com/dptrain/dptrain/train/engine"
	"github.com/dptrain/dptrain/train/enginetest"
)

// bent is an engine that gets one coordinate of every gradient wrong.
type bent struct {
	engine.Engine
	param, at int
	by        float32
}

type bentRun struct {
	engine.Run
	bent
}

func (b bent) Start(j engine.Job) (engine.Run, error) {
	r, err := b.Engine.Start(j)
	return bentRun{r, b}, err
}

func (r bentRun) PrivateClippedSum(samples []int32) ([][]float32, []float64, error) {
	sum, squared, err := r.Run.PrivateClippedSum(samples)
	if err == nil {
		sum[r.param][r.at] += r.by
	}
	return sum, squared, err
}

// record keeps what a check reports.
type record struct{ errors []string }

func (r *record) Helper()                      {}
func (r *record) Errorf(f string, args ...any) { r.errors = append(r.errors, fmt.Sprintf(f, args...)) }
func (r *record) Fatalf(f string, args ...any) { r.Errorf(f, args...) }
func (r *record) Fatal(args ...any)            { r.Errorf("%s", fmt.Sprint(args...)) }

// The second opinion must be able to dissent: of an engine that is wrong in one place, of one that trains another
// cost, and of nobody else.
func TestDifferencesFindMutants(t *testing.T) {
	zoo := enginetest.Zoo()
	for name, c := range map[string]struct {
		e    engine.Engine
		z    enginetest.Graph
		want bool
	}{
		"right":                {cpu.New(cpu.Options{}), zoo["logistic regression"], false},
		"one coordinate wrong": {bent{cpu.New(cpu.Options{}), 0, 1, 0.01}, zoo["logistic regression"], true},
		"one of many wrong":    {bent{cpu.New(cpu.Options{}), 0, 1100, 0.5}, zoo["two rows within a sample"], true},
		"another cost":         {swapped{cpu.New(cpu.Options{}), zoo["scale by a parameter"]}, zoo["minus a parameter, from the left"], true},
	} {
		var r record
		func() {
			defer func() {
				if p := recover(); p != nil { // what the checks' Fatal would have ended
					r.Errorf("%v", p)
				}
			}()
			enginetest.CheckDifferences(&r, c.e, c.z, false)
		}()
		if (len(r.errors) > 0) != c.want {
			t.Errorf("%s: reported %q", name, r.errors)
		}
	}
}

// swapped is an engine that runs another graph's program.
type swapped struct {
	engine.Engine
	z enginetest.Graph
}

func (s swapped) Start(j engine.Job) (engine.Run, error) {
	src, err := s.z.Build(1)
	if err != nil {
		return nil, err
	}
	p, err := compile.Compile(src)
	if err != nil {
		return nil, err
	}
	j.Data = enginetest.RandomData(p, 1, 3)
	j.Program = p
	return s.Engine.Start(j)
}
