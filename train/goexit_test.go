package train

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cpu"
)

// ruleFunc is a rule with one number of state for each parameter.
type ruleFunc struct {
	name string
	move func(*Update) error
}

func (r ruleFunc) Name() string                 { return r.name }
func (r ruleFunc) State(lengths []int) []int    { return lengths }
func (r ruleFunc) Move(u *Update) error         { return r.move(u) }
func (r ruleFunc) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }

// A rule that ends its goroutine ends its run with an error, and its step doesn't count as taken: taken again, the step
// would draw the same noise for other parameters.
func TestRuleThatEndsItsGoroutine(t *testing.T) {
	rule := ruleFunc{"leaving", func(u *Update) error {
		u.Parameters[0][0]++
		u.State[0][0]++
		if u.Step == 3 {
			runtime.Goexit()
		}
		return nil
	}}
	s := Settings{
		Privacy:   Privacy{SamplingRate: 1, ClippingNorm: 100, Steps: 5, NominalSize: 1},
		Optimizer: OptimizerOf(rule, 0.1), Key: InsecureKey(1),
	}
	trainer, err := New(cpu.New(cpu.Options{Workers: 1}), bowl(t), must(NewData(1, []float32{0})), s)
	if err != nil {
		t.Fatal(err)
	}
	defer trainer.Close()
	if _, err := trainer.Train(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "ended its goroutine") {
		t.Errorf("the run ended with %v", err)
	}
	state := must(trainer.State())
	if got := state.inner.Params[0]; state.Step() != 2 || !slices.Equal(got, []float32{3}) {
		t.Errorf("step %d has parameters %v, want step 2 with 3", state.Step(), got)
	}
	s.Optimizer = SGD(0.1)
	s.Optimizer.Schedule = ScheduleFunc("leaving", func(int, int) float64 { runtime.Goexit(); return 1 })
	if _, err := New(cpu.New(cpu.Options{}), bowl(t), must(NewData(1, []float32{0})), s); err == nil {
		t.Error("a schedule that ends its goroutine is taken")
	}
}

// Errors about unusable optimizers are one line, without a panic.
func TestOptimizersThatCannotBe(t *testing.T) {
	var none *ruleFunc
	with := func(o Optimizer) error {
		_, err := New(cpu.New(cpu.Options{}), bowl(t), must(NewData(1, []float32{0})), Settings{
			Privacy: Privacy{SamplingRate: 1, ClippingNorm: 100, Steps: 5, NominalSize: 1}, Optimizer: o, Key: InsecureKey(1),
		})
		return err
	}
	for name, o := range map[string]Optimizer{
		"a nil pointer":         OptimizerOf(none, 0.1),
		"two lines":             {Method: "x\ny", LearningRate: 0.1},
		"a line separator":      OptimizerOf(ruleFunc{name: "a\u2028b"}, 0.1),
		"text from the right":   OptimizerOf(ruleFunc{name: "a\u202eb"}, 0.1),
		"a name of two lines":   OptimizerOf(ruleFunc{name: "a\nb"}, 0.1),
		"a name with an escape": OptimizerOf(ruleFunc{name: "a\x1b[31mb"}, 0.1),
	} {
		if err := with(o); err == nil || strings.ContainsAny(err.Error(), "\n\x1b\u2028\u202e") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := with(OptimizerOf(ruleFunc{name: "plain Ünïcode ½ θ", move: func(*Update) error { return nil }}, 0.1)); err != nil {
		t.Error(err)
	}
}
