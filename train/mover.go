package train

import (
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// mover runs an optimizer that engines don't have built in, for one run. An engine calls move after each step; the
// other methods are called between steps.
type mover struct {
	optimizer Optimizer
	rule      Rule
	names     []string         // of the parameters
	groups    []ParameterGroup // of each parameter
	layout    engine.Layout
	decay     []float64 // by parameter, of the model's cost; nil for none
	factors   []float64 // of the learning rate at each step; nil for 1
	steps     int       // of the whole run

	updates int         // so far
	held    int         // noisy means since the last update
	state   [][]float32 // the rule's
	pending []float32   // the sum of the noisy means since the last update; nil unless they are accumulated
	average []float32   // of the parameters after each update; nil unless they are averaged

	before [][]float32 // copies of the parameters and of all kept values, from before the step
}

// newMover makes the mover of an optimizer for parameters of these names, with the factors of its learning rate at each
// step and the coefficients of the cost's decay by parameter; both may be nil. schedules reports whether the engine
// takes the rate of each step. It returns nil for an optimizer that engines have built in.
func newMover(o Optimizer, factors, decay []float64, names []string, l engine.Layout, steps int, schedules bool) (*mover, error) {
	if o.fused(schedules) && decay == nil {
		return nil, nil
	}
	groups, err := o.groupsOf(names)
	if err != nil {
		return nil, err
	}
	m := &mover{optimizer: o, rule: o.rule(), names: names, groups: groups, layout: l, decay: decay, factors: factors, steps: steps}
	lengths, err := stateLengths(m.rule, l)
	if err != nil {
		return nil, err
	}
	for _, n := range lengths {
		m.state = append(m.state, make([]float32, n))
	}
	if o.Accumulate > 1 {
		m.pending = make([]float32, l.Size)
	}
	if o.Average > 0 {
		m.average = make([]float32, l.Size)
	}
	return m, nil
}

// updatesAfter returns the number of updates after a step. The last one averages the noisy means that are left. They
// begin after that step, even if the run that this one goes on from ended there.
func (m *mover) updatesAfter(step int) int {
	each := m.accumulates()
	return (m.steps - step + each - 1) / each
}

// move is [engine.Job].Move. After an error everything is as before the step: a run resumed from a state saved in the
// middle of a step would take the step again, with the same noise on other parameters.
func (m *mover) move(step int, params, gradient []float32) error {
	now := append(m.kept(), params)
	if m.before == nil {
		m.before = make([][]float32, len(now))
	}
	for i, values := range now {
		m.before[i] = append(m.before[i][:0], values...)
	}
	updates, held := m.updates, m.held
	err := m.take(step, params, gradient)
	if err != nil {
		m.updates, m.held = updates, held
		for i, values := range now {
			copy(values, m.before[i])
		}
	}
	return err
}

// take takes one step.
func (m *mover) take(step int, params, gradient []float32) error {
	withDecay(m.decay, m.layout.Split(params), m.layout.Split(gradient))
	if m.pending != nil && !m.accumulate(step, gradient) {
		return nil
	}
	u := &Update{
		Step: m.updates + 1, Steps: m.updates + 1 + m.updatesAfter(step), LearningRate: m.optimizer.LearningRate,
		Names: slices.Clone(m.names), Parameters: m.layout.Split(params), Gradient: m.layout.Split(gradient), State: slices.Clone(m.state),
		groups: m.groups,
	}
	if m.factors != nil {
		u.LearningRate *= m.factors[step-1]
	}
	if d := m.optimizer.WeightDecay; d > 0 {
		for i, values := range u.Parameters {
			share := u.rate(i) * (d * m.groups[i].WeightDecay)
			for j, v := range values {
				values[j] = float32(float64(v) - float64(share*float64(v)))
			}
		}
	}
	number, name := u.Step, m.optimizer.Method
	if err := calling("it", func() error { return m.rule.Move(u) }); err != nil {
		return fmt.Errorf("update by %s: %w", name, err)
	}
	if !sameSlices(u.Parameters, m.layout.Split(params)) || !sameSlices(u.State, m.state) {
		return fmt.Errorf("update by %s: it replaced a slice of parameters or state; change their elements in place", name)
	}
	if m.average != nil {
		keep := min(m.optimizer.Average, float64(number-1)/float64(number))
		for j, v := range params {
			a := float64(m.average[j])
			m.average[j] = float32(a + float64((1-keep)*(float64(v)-a)))
		}
	}
	m.updates = number
	return nil
}

// accumulate adds a noisy mean to the sum for the current update, and reports whether it is the last. The gradient is
// then the mean of them all.
func (m *mover) accumulate(step int, gradient []float32) (last bool) {
	for j, g := range gradient {
		m.pending[j] += g
	}
	if m.held++; m.held < m.optimizer.Accumulate && step != m.steps {
		return false
	}
	for j, sum := range m.pending {
		gradient[j] = sum / float32(m.held)
	}
	clear(m.pending)
	m.held = 0
	return true
}

// sameSlices reports whether the slices share their memory.
func sameSlices(a, b [][]float32) bool {
	return slices.EqualFunc(a, b, func(a, b []float32) bool {
		return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
	})
}

// released returns the values that a run releases: params or their average. A nil mover releases params.
func (m *mover) released(params []float32) []float32 {
	if !m.averages() {
		return params
	}
	return m.average
}

// averages reports whether a run releases an average now.
func (m *mover) averages() bool { return m != nil && m.average != nil && m.updates > 0 }

// accumulates returns the number of noisy means in an update.
func (m *mover) accumulates() int {
	if m == nil {
		return 1
	}
	return max(1, m.optimizer.Accumulate)
}

// taken returns the number of updates so far. An optimizer that engines have built in takes one in each step.
func (m *mover) taken(steps int) int {
	if m == nil {
		return steps
	}
	return m.updates
}

// waiting returns the number of noisy means since the last update.
func (m *mover) waiting() int {
	if m == nil {
		return 0
	}
	return m.held
}

// save returns a copy of all that the mover keeps from step to step, or nil if it keeps nothing.
func (m *mover) save() [][]float32 {
	var out [][]float32
	if m != nil {
		for _, kept := range m.kept() {
			out = append(out, slices.Clone(kept))
		}
	}
	return out
}

// kept returns the slices that the mover keeps from step to step, without copying. Accumulated and averaged values are
// by parameter, without the padding of the layout.
func (m *mover) kept() [][]float32 {
	return slices.Concat(m.state, m.layout.Split(m.pending), m.layout.Split(m.average))
}

// fits returns an error that wraps [ErrState] unless a saved state has the sizes of this one.
func (m *mover) fits(saved tensors) error {
	var own [][]float32
	if m != nil {
		own = m.kept()
	}
	if !slices.EqualFunc(saved.Own, own, func(a, b []float32) bool { return len(a) == len(b) }) {
		return fmt.Errorf("%w: its optimizer's values don't have the sizes of this one's", ErrState)
	}
	if most := m.accumulates(); saved.Pending >= most {
		return fmt.Errorf("%w: %d noisy means wait for an update of %d", ErrState, saved.Pending, most)
	}
	return nil
}

// restore replaces the mover's state by a saved one that fits.
func (m *mover) restore(saved tensors) {
	if m != nil {
		m.updates, m.held = saved.Updates, saved.Pending
		for i, kept := range m.kept() {
			copy(kept, saved.Own[i])
		}
	}
}

// decayOf returns, for each parameter, the coefficient of its decay in the model's cost, or nil for none. A term
// d/2·‖θ‖² beside the mean of the samples' costs has the coefficient d. A term beside their sum is divided, like the
// sum, by the expected batch size.
func decayOf(p *compile.Program, expectedBatch float64) []float64 {
	if p.Decay == nil || p.DecayOfMean {
		return p.Decay
	}
	out := make([]float64, len(p.Decay))
	for i, d := range p.Decay {
		out[i] = d / expectedBatch
	}
	return out
}

// withDecay adds d·θ to the gradient of each parameter, for the coefficients d by parameter: the gradient of a decay
// that is part of the cost. It depends on parameters alone, which are released, and so it is added to the noisy mean,
// without clipping and without noise. Nil coefficients add nothing.
func withDecay(coefficients []float64, parameters, gradient [][]float32) {
	for i, d := range coefficients {
		if d == 0 {
			continue
		}
		for j, v := range parameters[i] {
			gradient[i][j] = float32(float64(gradient[i][j]) + float64(d*float64(v)))
		}
	}
}
