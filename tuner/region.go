package tuner

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/float"
	"github.com/dptrain/dptrain/internal/random"
	"github.com/dptrain/dptrain/train"
)

// Region is a space for random search (paper, [random_search]): each hyperparameter is drawn independently. [Calibrate]
// or [CalibrateSteps] fixes the cost of its runs before any is drawn. If sampling rates and epochs are lists, it sets
// Runs. Otherwise it sets Line: each candidate, once drawn, gets the noise or steps with which its Rényi divergence is
// at most Slope·a at every order a of the line, and is charged the line.
type Region struct {
	LearningRate, SamplingRate, ClippingNorm Values
	// If NoiseMultiplier is 0, a candidate's epochs are drawn from Epochs, [train.Steps] turns them into steps, and the
	// noise multiplier is the smallest that fits. Otherwise each candidate has NoiseMultiplier and the largest number
	// of steps that fits.
	Epochs          Values
	NoiseMultiplier float64

	Runs []Run              // the run of each sampling rate and number of epochs, or none
	Line accountant.RDPLine // used if Runs is empty
}

// Values is the set that a hyperparameter is drawn from. If List isn't empty, each of its values has the same
// probability. Otherwise the value is drawn log-uniformly from Low to High and rounded to six significant digits.
type Values struct {
	List []float64 `json:"values,omitempty"`
	Low  float64   `json:"low,omitempty"`
	High float64   `json:"high,omitempty"`
}

// Between returns the values of the range from low to high.
func Between(low, high float64) Values { return Values{Low: low, High: high} }

// draw draws a value.
func (v Values) draw(s *random.Stream) float64 {
	if len(v.List) > 0 {
		return v.List[s.IntN(len(v.List))]
	}
	return v.at(s.Float64())
}

// at returns the number at a fraction of the way from Low to High, on a logarithmic scale. It rounds the number, which
// is then readable and doesn't depend on the last bits of a library's logarithm.
func (v Values) at(fraction float64) float64 {
	return min(max(float.Rounded(v.Low*math.Pow(v.High/v.Low, fraction), 6), v.Low), v.High)
}

// middle returns the first of a list, or the geometric mean of a range.
func (v Values) middle() float64 {
	if len(v.List) > 0 {
		return v.List[0]
	}
	return v.at(0.5)
}

// ends returns the minimum and the maximum.
func (v Values) ends() [2]float64 {
	if len(v.List) > 0 {
		return [2]float64{slices.Min(v.List), slices.Max(v.List)}
	}
	return [2]float64{v.Low, v.High}
}

// below returns the values without those above the limit.
func (v Values) below(limit float64) Values {
	if len(v.List) > 0 {
		v.List = slices.DeleteFunc(slices.Clone(v.List), func(x float64) bool { return x > limit })
		return v
	}
	v.High = min(v.High, limit)
	return v
}

func (v Values) validate(setting string) error {
	for _, x := range append(slices.Clone(v.List), v.Low, v.High) {
		if !(x >= 0) || math.IsInf(x, 1) {
			return &train.SettingError{Setting: setting, Value: x, Want: "a finite number above 0"}
		}
	}
	if ends := v.ends(); !(ends[0] > 0 && ends[0] <= ends[1]) {
		return &train.SettingError{Setting: setting, Value: v.String(), Want: "values above 0, in a list or between two ends"}
	}
	return nil
}

// String lists the values, or the ends of the range.
func (v Values) String() string {
	if len(v.List) == 0 {
		return fmt.Sprintf("%.4g to %.4g, log-uniform", v.Low, v.High)
	}
	var texts []string
	for _, x := range v.List {
		texts = append(texts, fmt.Sprintf("%.4g", x))
	}
	return strings.Join(texts, ", ")
}

// Chances returns the probability with which a trial draws each of Runs; nil if the region has a line instead.
func (r Region) Chances() []float64 { return chances(r.counts()) }

// counts returns, for each of Runs, how many pairs of values in the lists of sampling rates and epochs have it.
func (r Region) counts() []float64 {
	if len(r.Runs) == 0 {
		return nil
	}
	epochs := r.Epochs.List
	if r.NoiseMultiplier > 0 || len(epochs) == 0 {
		epochs = []float64{0}
	}
	counts := make([]float64, len(r.Runs))
	for _, gamma := range r.SamplingRate.List {
		for _, e := range epochs {
			if run, err := r.settled(gamma, e); err == nil {
				if i := slices.Index(r.Runs, run); i >= 0 { // not NaN, which accountants refuse
					counts[i]++
				}
			}
		}
	}
	return counts
}

// trial returns the line if the candidates are fitted to one.
func (r Region) trial() accountant.Event {
	if len(r.Runs) > 0 {
		return oneOf(r.Runs, r.counts())
	}
	return r.final()
}

func (r Region) final() accountant.Event {
	switch {
	case len(r.Runs) > 0:
		return maxOver(r.Runs)
	case r.Line.Slope == 0:
		return accountant.MaxOver{} // not calibrated: accountants refuse it, while a line of slope 0 would cost nothing
	}
	return r.Line
}

// kinds returns a candidate for each kind of run, if their number is finite.
func (r Region) kinds() (g Grid, finite bool, err error) {
	if len(r.SamplingRate.List) == 0 || len(r.Epochs.List) == 0 && r.NoiseMultiplier == 0 {
		return nil, false, nil
	}
	lists := Lists{LearningRates: []float64{0}, SamplingRates: r.SamplingRate.List, ClippingNorms: []float64{0}}
	if r.NoiseMultiplier == 0 {
		lists.Epochs = r.Epochs.List
	}
	g, err = lists.Grid()
	return g.WithNoiseMultiplier(r.NoiseMultiplier), true, err
}

// drawer returns a function that draws candidates. It fits each kind of run once: a fit takes thousands of times as
// long as a draw.
func (r Region) drawer() func(*random.Stream) (Candidate, error) {
	type kind struct{ gamma, epochs float64 }
	fits := map[kind]Run{}
	return func(s *random.Stream) (Candidate, error) {
		c := Candidate{LearningRate: r.LearningRate.draw(s), SamplingRate: r.SamplingRate.draw(s), ClippingNorm: r.ClippingNorm.draw(s)}
		k := kind{gamma: c.SamplingRate}
		if r.NoiseMultiplier == 0 {
			k.epochs = r.Epochs.draw(s)
		}
		if _, ok := fits[k]; !ok {
			run, err := r.fit(k.gamma, k.epochs)
			if err != nil {
				return Candidate{}, err
			}
			fits[k] = run
		}
		c.Steps, c.NoiseMultiplier = fits[k].Steps, fits[k].NoiseMultiplier
		return c, nil
	}
}

// fit returns the run of a sampling rate and a number of epochs: the one in Runs, or the one with the least noise, or
// the most steps, that costs no more than the line.
func (r Region) fit(gamma, epochs float64) (Run, error) {
	if len(r.Runs) > 0 {
		return r.settled(gamma, epochs)
	}
	run := Run{SamplingRate: gamma, NoiseMultiplier: r.NoiseMultiplier}
	o := accountant.Options{Mode: accountant.Paper, Orders: r.Line.Orders}
	var err error
	if r.NoiseMultiplier > 0 {
		run.Steps, err = accountant.CalibrateStepsToLine(r.Line.Slope, o, func(steps int) accountant.Event {
			return Run{gamma, steps, run.NoiseMultiplier}.event()
		})
		if err == nil && run.Steps == 0 {
			err = fmt.Errorf("not one step at sampling rate %v with noise multiplier %v: %w", gamma, run.NoiseMultiplier, accountant.ErrInfeasible)
		}
	} else if run.Steps, err = stepsOf(epochs, gamma); err == nil {
		run.NoiseMultiplier, err = accountant.CalibrateNoiseToLine(r.Line.Slope, o, func(noise float64) accountant.Event {
			return Run{gamma, run.Steps, noise}.event()
		})
	}
	if err != nil {
		return Run{}, fmt.Errorf("fit a candidate below the line: %w", err)
	}
	return run, nil
}

// settled returns the run in Runs of a sampling rate and a number of epochs.
func (r Region) settled(gamma, epochs float64) (Run, error) {
	want := Run{SamplingRate: gamma}
	if r.NoiseMultiplier == 0 {
		var err error
		if want.Steps, err = stepsOf(epochs, gamma); err != nil {
			return Run{}, err
		}
	}
	for _, run := range r.Runs {
		if run.SamplingRate == gamma && (run.Steps == want.Steps || run.NoiseMultiplier == r.NoiseMultiplier) {
			return run, nil
		}
	}
	return Run{}, &train.SettingError{Setting: "runs of the region", Value: fmt.Sprint(r.Runs), Want: fmt.Sprintf("one at sampling rate %v for %v epochs, from tuner.Calibrate", gamma, epochs)}
}

// first returns the middle of the region.
func (r Region) first() (Candidate, error) {
	c := Candidate{LearningRate: r.LearningRate.middle(), ClippingNorm: r.ClippingNorm.middle()}
	epochs := 0.0
	if r.NoiseMultiplier == 0 {
		epochs = r.Epochs.middle()
	}
	run, err := r.fit(r.SamplingRate.middle(), epochs)
	c.SamplingRate, c.Steps, c.NoiseMultiplier = run.SamplingRate, run.Steps, run.NoiseMultiplier
	return c, err
}

// corners returns a candidate for each combination of the ends of sampling rate and epochs. A drawn candidate costs
// something in between, so it can be fitted if the corners can.
func (r Region) corners() ([]Candidate, error) {
	var epochs [2]float64
	if r.NoiseMultiplier == 0 {
		epochs = r.Epochs.ends()
	}
	rates, norms := r.LearningRate.ends(), r.ClippingNorm.ends()
	var corners []Candidate
	for i, gamma := range r.SamplingRate.ends() {
		for _, e := range epochs {
			run, err := r.fit(gamma, e)
			if err != nil {
				return nil, err
			}
			corners = append(corners, Candidate{rates[i], run.SamplingRate, run.Steps, run.NoiseMultiplier, norms[i]})
		}
	}
	return corners, nil
}

// maxFits is the maximum mean number of trials that are fitted below a line: each fit takes about a millisecond.
const maxFits = 1e4

func (r Region) validate(s Settings) error {
	if mean := s.Repetitions.Expected(); len(r.Runs) == 0 && mean > maxFits {
		return &train.SettingError{Setting: "mean number of trials", Value: mean, Want: fmt.Sprintf("at most %v where candidates are fitted below a line", float64(maxFits))}
	}
	for _, p := range r.Parameters() {
		if err := p.Values.validate(p.Name); err != nil {
			return err
		}
	}
	if high := r.SamplingRate.ends()[1]; high > 1 {
		return &train.SettingError{Setting: "sampling rate", Value: high, Want: "numbers in (0, 1]"}
	}
	corners, err := r.corners()
	if err != nil {
		return err
	}
	for _, c := range corners {
		if err := s.validateCandidate(c, corners[0].ClippingNorm); err != nil {
			return fmt.Errorf("a corner of the region: %w", err)
		}
	}
	return nil
}

// Parameter is the name of a hyperparameter with the values that it is drawn from.
type Parameter struct {
	Name string `json:"name"`
	Values
}

// Parameters returns each hyperparameter that is drawn, with its values. The result shares no memory with the region.
func (r Region) Parameters() []Parameter {
	all := []Parameter{{"learning rate", r.LearningRate}, {"sampling rate", r.SamplingRate}, {"clipping norm", r.ClippingNorm}}
	if r.NoiseMultiplier == 0 {
		all = append(all, Parameter{"epochs", r.Epochs})
	}
	for i := range all {
		all[i].Values.List = slices.Clone(all[i].Values.List)
	}
	return all
}

// LearningRates returns the minimum and the maximum of the learning rate.
func (r Region) LearningRates() (low, high float64) {
	ends := r.LearningRate.ends()
	return ends[0], ends[1]
}

func (r Region) clone() Space {
	for _, v := range []*Values{&r.LearningRate, &r.SamplingRate, &r.ClippingNorm, &r.Epochs} {
		v.List = slices.Clone(v.List)
	}
	r.Runs = slices.Clone(r.Runs)
	return r
}

func (r Region) below(limit float64) Space {
	r.LearningRate = r.LearningRate.below(limit)
	return r
}

// noisy returns the region with the line of a Gaussian mechanism with the given noise.
func (r Region) noisy(noise float64, _ calibration) Space {
	r.Line.Slope = min(0.5/(noise*noise), math.MaxFloat64)
	return r
}
