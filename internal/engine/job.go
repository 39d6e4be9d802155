package engine

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/random"
)

// Job is one training run over loaded data, as pure data. An engine changes no slice in it and keeps copies: the caller
// may change them once [Loaded].Start has returned.
type Job struct {
	Members   []int32 // indices of the samples to train on, ascending; nil for all of the data, empty for none
	Mechanism Mechanism
	Optimizer Optimizer
	Key       random.Key
	Trial     uint32    // names this run's streams under Key; unique among the runs of one key
	Initial   []float32 // the parameters at step 0, laid out by [Layout]

	// Move, if it isn't nil, moves the parameters instead of Optimizer, which then is the zero value. After each step,
	// counted from 1, it gets the parameters, which it changes in place, and the noisy mean gradient, rounded to
	// floats, both laid out by [Layout]. It leaves the padding at 0, and may overwrite the gradient. It is called for
	// one step of a run at a time, and for several runs concurrently. The caller must save all that it keeps from step
	// to step. An error stops the run.
	Move func(step int, params, gradient []float32) error

	// Rate, if it isn't nil, returns the learning rate of each step, counted from 1, in place of Optimizer's. Only
	// engines that [Schedules] reports take it. It may be called for several runs concurrently.
	Rate func(step int) float64
}

// Schedules reports whether runs of l take [Job].Rate: whether l has a method Schedules, without results.
func Schedules(l Loaded) bool {
	if c, ok := l.(chosen); ok {
		l = c.Loaded
	}
	_, ok := l.(interface{ Schedules() })
	return ok
}

// mostDraws is the number of halves of words in a stream.
const mostDraws = 1 << 36

// State is all that a run carries from step to step. Vectors are laid out by [Layout], with 0 in the padding. [Job] and
// State together determine the run's future: key, trial and step name each random stream, so a state needs no position
// in a stream but its step.
type State struct {
	Step   int // steps done
	Params []float32
	First  []float32 // Adam's first moment, else nil
	Second []float32 // Adam's second moment, else nil
}

// FieldError reports a field of a job, its program or its data that can't be used.
type FieldError struct {
	Field   string // in Go's notation: "Mechanism.ClippingNorm"
	Problem string
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Problem }

// Check checks the job against a program and its data. The error is a [*FieldError].
func (j *Job) Check(p *compile.Program, d *Data) error {
	if err := j.Mechanism.check(); err != nil {
		return err
	}
	if j.Move == nil {
		if err := j.Optimizer.check(); err != nil {
			return err
		}
	} else if j.Optimizer != (Optimizer{}) {
		return &FieldError{"Optimizer", "is set beside Move, which replaces it"}
	} else if j.Rate != nil {
		return &FieldError{"Rate", "is set beside Move, which has rates of its own"}
	}
	if err := d.Check(p); err != nil {
		return err
	}
	if p.Draws > 0 && d.Samples > mostDraws/p.Draws {
		return &FieldError{"Data", fmt.Sprintf("%d samples with %d draws each; a step has %d draws", d.Samples, p.Draws, mostDraws)}
	}
	for i, s := range j.Members {
		field := fmt.Sprintf("Members[%d]", i)
		if s < 0 || int(s) >= d.Samples {
			return &FieldError{field, fmt.Sprintf("%d is no sample's number; there are %d samples", s, d.Samples)}
		}
		if i > 0 && s <= j.Members[i-1] {
			return &FieldError{field, fmt.Sprintf("%d follows %d; members ascend", s, j.Members[i-1])}
		}
	}
	layout := LayoutOf(p)
	if len(j.Initial) != layout.Size {
		return &FieldError{"Initial", fmt.Sprintf("%d values, the parameters take %d", len(j.Initial), layout.Size)}
	}
	return j.Mechanism.checkSums(d.Samples, layout.Size)
}

// CheckState checks a state against the job that it would be restored to. The error is a [*FieldError].
func (j *Job) CheckState(s State, l Layout) error {
	if s.Step < 0 || s.Step > math.MaxInt32 {
		return &FieldError{"Step", fmt.Sprintf("%d steps", s.Step)}
	}
	moments := 0
	if j.Optimizer.Method == Adam {
		moments = l.Size
	}
	for _, v := range []struct {
		field string
		got   []float32
		want  int
	}{{"Params", s.Params, l.Size}, {"First", s.First, moments}, {"Second", s.Second, moments}} {
		if len(v.got) != v.want {
			return &FieldError{v.field, fmt.Sprintf("%d values, the run keeps %d", len(v.got), v.want)}
		}
	}
	return nil
}
