package train

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Schedule makes the learning rate depend on the step. It depends on public numbers alone, never on the data, so it
// costs no privacy. Make one by [Linear], [Cosine], [Warmup] or [ScheduleFunc], or implement it.
type Schedule interface {
	// Name names the schedule with its settings, in one line. It is released with the model.
	Name() string
	// Factor returns the factor of the learning rate at a step, from 1 to steps: a finite number, 0 or above. It must
	// depend on its arguments alone. It is called for each step when a run starts.
	Factor(step, steps int) float64
}

// maxScheduled is the maximum number of steps of a run with a schedule, since a run keeps all factors in memory.
const maxScheduled = 1 << 20

// Linear returns a schedule that falls linearly from 1 at the first step, and would reach end one step after the last.
func Linear(end float64) Schedule { return decaying{"linear", end} }

// Cosine returns a schedule that falls from 1 to end along half a period of a cosine (Loshchilov and Hutter, "SGDR",
// 2017): at a share p of the steps it is end + (1-end)(1+cos πp)/2.
func Cosine(end float64) Schedule { return decaying{"cosine", end} }

type decaying struct {
	shape string
	end   float64
}

func (d decaying) Name() string { return d.shape + " to " + number(d.end) }

func (d decaying) Factor(step, steps int) float64 {
	p := float64(step-1) / float64(steps)
	left := 1 - p
	if d.shape == "cosine" {
		left = (1 + math.Cos(math.Pi*p)) / 2
	}
	return d.end + float64((1-d.end)*left)
}

func (d decaying) validate() error {
	if !(d.end >= 0 && finite(d.end)) {
		return &SettingError{"end of the " + d.shape + " schedule", d.end, "a finite number, 0 or above"}
	}
	return nil
}

// Warmup returns a schedule that first rises from 0 to 1, in equal steps, over a share of the steps in [0, 1). The
// schedule then has the remaining steps; nil keeps the factor at 1.
func Warmup(share float64, then Schedule) Schedule { return warmup{share, then} }

type warmup struct {
	share float64
	then  Schedule
}

func (w warmup) Name() string {
	text := "warm-up of " + number(w.share)
	if w.then != nil {
		text += ", then " + w.then.Name()
	}
	return text
}

func (w warmup) Factor(step, steps int) float64 {
	rising := int(w.share * float64(steps))
	switch {
	case step <= rising:
		return float64(step) / float64(rising+1)
	case w.then == nil:
		return 1
	}
	return w.then.Factor(step-rising, steps-rising)
}

func (w warmup) validate() error {
	if !(w.share >= 0 && w.share < 1) {
		return &SettingError{"warm-up of the schedule", w.share, "a share of the steps in [0, 1)"}
	}
	if w.then == nil {
		return nil
	}
	return validateSchedule(w.then)
}

// ScheduleFunc returns a [Schedule] with the given Name and Factor.
func ScheduleFunc(name string, factor func(step, steps int) float64) Schedule {
	return scheduleFunc{name, factor}
}

type scheduleFunc struct {
	name   string
	factor func(step, steps int) float64
}

func (s scheduleFunc) Name() string                   { return s.name }
func (s scheduleFunc) Factor(step, steps int) float64 { return s.factor(step, steps) }

func (s scheduleFunc) validate() error {
	if s.factor == nil {
		return &SettingError{"function of the schedule", "missing", "one that returns the factor of a step"}
	}
	return nil
}

func validateSchedule(s Schedule) error {
	name := ""
	if err := calling("its name", func() error { name = s.Name(); return nil }); err != nil {
		return &SettingError{"schedule", fmt.Sprintf("a %T", s), "one that has a name: " + err.Error()}
	}
	if err := validateName("name of the schedule", name); err != nil {
		return err
	}
	if built, ok := s.(interface{ validate() error }); ok {
		return built.validate()
	}
	return nil
}

// factors returns the factor of each step of a run; nil without a schedule. The run uses only these factors, which are
// part of its identity.
func factors(s Schedule, steps int) ([]float64, error) {
	if s == nil {
		return nil, nil
	}
	if steps > maxScheduled {
		return nil, &SettingError{"steps", steps, fmt.Sprintf("at most %d with a schedule", maxScheduled)}
	}
	out := make([]float64, steps)
	err := calling("schedule "+s.Name(), func() error {
		for i := range out {
			v := s.Factor(i+1, steps)
			if !(v >= 0 && finite(v)) {
				return fmt.Errorf("schedule %s has factor %v", s.Name(), v)
			}
			out[i] = v
		}
		return nil
	})
	if err != nil {
		return nil, &SettingError{"factor of the learning rate", err, "a finite number, 0 or above, at each step"}
	}
	return out, nil
}

// factorBytes returns factors for a hash.
func factorBytes(factors []float64) []byte {
	out := make([]byte, 0, 8*len(factors))
	for _, v := range factors {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
	}
	return out
}
