package tuner

import (
	"context"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/train"
)

// An executor with something missing gives an error, and closes what it has opened.
func TestExecutorWithMissingFields(t *testing.T) {
	plan := mustPlan(t, settings(Variant1, 3), 1)
	for name, spoil := range map[string]func(*Executor){
		"everything":          func(x *Executor) { *x = Executor{} },
		"engine":              func(x *Executor) { x.Engine = nil },
		"model":               func(x *Executor) { x.Model = train.Model{} },
		"its lists":           func(x *Executor) { x.Model.Inputs, x.Model.Parameters = nil, nil },
		"data":                func(x *Executor) { x.Data = nil },
		"data, a zero value":  func(x *Executor) { x.Data = &train.Data{} },
		"test":                func(x *Executor) { x.Test = nil },
		"test, a nil pointer": func(x *Executor) { x.Test = (*train.Classification)(nil) },
		"test, a zero value":  func(x *Executor) { x.Test = &train.Regression{} },
	} {
		lab := &fakeLab{}
		x := lab.executor(t)
		spoil(&x)
		if _, err := x.Run(context.Background(), plan); err == nil || lab.open != 0 {
			t.Errorf("without %s: error %v, %d left open", name, err, lab.open)
		}
	}
	lab := &fakeLab{}
	if _, err := lab.executor(t).Run(context.Background(), Plan{}); err == nil {
		t.Error("a plan that is none is carried out")
	}
}

// Methods of settings with something missing return errors, and those without an error don't panic.
func TestSettingsWithMissingFields(t *testing.T) {
	for name, spoil := range map[string]func(*Settings){
		"everything":                 func(s *Settings) { *s = Settings{} },
		"space":                      func(s *Settings) { s.Space = nil },
		"space, a nil pointer":       func(s *Settings) { s.Space = (*Region)(nil) },
		"candidates":                 func(s *Settings) { s.Space = Grid{} },
		"values of a region":         func(s *Settings) { s.Space = Region{} },
		"repetitions":                func(s *Settings) { s.Repetitions = nil },
		"repetitions, a nil pointer": func(s *Settings) { s.Repetitions = (*accountant.TruncatedPoisson)(nil) },
	} {
		s := settings(Variant2, 3)
		spoil(&s)
		_, valid := s.WithinFinalRate(100)
		_, calibrated := calibrationOf(Calibrate(s, 1, 1e-5, accountant.Options{Mode: accountant.Paper}))
		_, stepped := calibrationOf(CalibrateSteps(s, 1, 1e-5, accountant.Options{Mode: accountant.Paper}))
		_, planned := NewPlan(s, train.InsecureKey(1))
		_, guaranteed := s.Guarantee(1e-5, accountant.Options{Mode: accountant.Paper})
		if s.Space == nil && valid == nil || calibrated == nil || stepped == nil || planned == nil || guaranteed == nil || s.Validate() == nil {
			t.Errorf("without %s: %v, %v, %v, %v, %v, %v", name, valid, calibrated, stepped, planned, guaranteed, s.Validate())
		}
		if s.Event() == nil {
			t.Errorf("without %s: no event", name)
		}
	}
	if low, high := (Grid{}).LearningRates(); low != 0 || high != 0 {
		t.Errorf("learning rates of no candidates are %v and %v", low, high)
	}
}

func calibrationOf(s Settings, _ accountant.Guarantee, err error) (Settings, error) { return s, err }
