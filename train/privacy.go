package train

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/random"
)

// Privacy holds the settings that decide the guarantee of one training run.
type Privacy struct {
	// SamplingRate is γ, each sample's probability of being in a step's minibatch; in (0, 1].
	SamplingRate float64 `json:"sampling_rate" yaml:"sampling_rate"`
	// NoiseMultiplier is σ, the standard deviation of the noise divided by ClippingNorm: 0, or in [1e-5, 1e9], where
	// sums are exact. With 0 there is no privacy at all.
	NoiseMultiplier float64 `json:"noise_multiplier" yaml:"noise_multiplier"`
	// ClippingNorm is C, the maximum L2 norm of one sample's contribution to a step; in [1e-9, 1e9], well within the
	// range of single precision. In each coordinate a contribution is rounded by up to C/2²², or more if there are very
	// many samples or there is very much noise, so a C of a million times the gradients' norms leaves nothing of them.
	ClippingNorm float64 `json:"clipping_norm" yaml:"clipping_norm"`
	// Clipping is the rule by which gradients are scaled to ClippingNorm. The guarantee is the same by each.
	Clipping Clipping `json:"clipping,omitempty" yaml:"clipping,omitempty"`
	// Steps is T, the number of updates; at least 0.
	Steps int `json:"steps" yaml:"steps"`
	// NominalSize is the public, expected number of samples that the run trains on: n, or q·n for a run on a random
	// subset. It must never be a drawn size, which is private.
	NominalSize float64 `json:"nominal_size" yaml:"nominal_size"`
}

// Clipping is a rule by which each sample's gradient is scaled before gradients are summed.
type Clipping string

// The rules of clipping. Neither lets a sample contribute more than C.
const (
	// FixedClipping scales gradients of norms above C down to C, and leaves others as they are.
	FixedClipping Clipping = ""
	// AutomaticClipping multiplies each gradient by C/(norm + 0.01). Then C only scales the learning rate of SGD
	// without weight decay, and has next to no effect on Adam: keep one C, and search the rate. It is AUTO-S of Bu,
	// Wang, Zha and Karypis, "Automatic Clipping: Differentially Private Deep Learning Made Easier and Stronger"
	// (NeurIPS 2023).
	AutomaticClipping Clipping = "automatic"
)

// String returns the rule's name, "fixed" or "automatic".
func (c Clipping) String() string {
	if c == FixedClipping {
		return "fixed"
	}
	return string(c)
}

// maxSteps is the maximum of Steps, because the names of random streams hold 32-bit step numbers.
const maxSteps = math.MaxInt32

// Validate returns a [*SettingError] for the first invalid field, or nil.
func (p Privacy) Validate() error {
	switch {
	case !(p.SamplingRate > 0 && p.SamplingRate <= 1):
		return &SettingError{"sampling rate", p.SamplingRate, "a number in (0, 1]"}
	case p.NoiseMultiplier != 0 && !(p.NoiseMultiplier >= 1e-5 && p.NoiseMultiplier <= 1e9):
		return &SettingError{"noise multiplier", p.NoiseMultiplier, "0, or a number from 1e-5 to 1e9"}
	case !(p.ClippingNorm >= 1e-9 && p.ClippingNorm <= 1e9):
		return &SettingError{"clipping norm", p.ClippingNorm, "a number from 1e-9 to 1e9"}
	case p.Clipping != FixedClipping && p.Clipping != AutomaticClipping:
		return &SettingError{"clipping", p.Clipping, fmt.Sprintf(`"" for fixed clipping, or %q`, AutomaticClipping)}
	case p.Steps < 0 || p.Steps > maxSteps:
		return &SettingError{"steps", p.Steps, fmt.Sprintf("a whole number from 0 to %d", maxSteps)}
	case !(p.NominalSize > 0 && finite(p.NominalSize)):
		return &SettingError{"nominal size", p.NominalSize, "a finite number above 0"}
	}
	return nil
}

// ExpectedBatchSize returns |B| = γ · nominal size, the divisor of every step's noisy sum.
func (p Privacy) ExpectedBatchSize() float64 { return p.SamplingRate * p.NominalSize }

// Steps returns the number of steps in the given epochs at a sampling rate: epochs/samplingRate, rounded half up. It
// divides the shortest decimals that print the two numbers, so 40/0.0256 = 1562.5 rounds to 1563, although 0.0256 has
// no exact float64. The error is a [*SettingError].
func Steps(epochs, samplingRate float64) (int, error) {
	if !(epochs >= 0 && finite(epochs)) {
		return 0, &SettingError{"epochs", epochs, "a finite number, 0 or above"}
	}
	if !(samplingRate > 0 && samplingRate <= 1) {
		return 0, &SettingError{"sampling rate", samplingRate, "a number in (0, 1]"}
	}
	exact := new(big.Rat).Quo(decimal(epochs), decimal(samplingRate))
	exact.Add(exact, big.NewRat(1, 2))
	steps := new(big.Int).Quo(exact.Num(), exact.Denom())
	if !steps.IsInt64() || steps.Int64() > maxSteps {
		return 0, &SettingError{"epochs", epochs, fmt.Sprintf("at most %d steps at sampling rate %v", maxSteps, samplingRate)}
	}
	return int(steps.Int64()), nil
}

// decimal returns the shortest decimal that reads back as v.
func decimal(v float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', -1, 64)) // always a number: v is finite
	return r
}

// The mechanism that an engine runs and the event that an accountant charges both come from the same [Privacy] value,
// and only from it, so that they can't drift apart.

// Event returns the privacy event of one run with these settings: Steps compositions of the Gaussian mechanism on a
// Poisson sample. It depends on SamplingRate, NoiseMultiplier and Steps alone. It checks nothing: the functions of
// package accountant refuse an invalid event, and [New] refuses invalid settings.
func (p Privacy) Event() accountant.Event {
	return accountant.DPSGD(p.SamplingRate, p.NoiseMultiplier, p.Steps)
}

// engine returns the mechanism in an engine's form. The engine itself clips to a little less than C: see package
// engine.
func (p Privacy) engine() engine.Mechanism {
	return engine.Mechanism{
		SamplingProbability: p.SamplingRate,
		NoiseMultiplier:     p.NoiseMultiplier,
		ClippingNorm:        p.ClippingNorm,
		ExpectedBatchSize:   p.ExpectedBatchSize(),
		Automatic:           p.Clipping == AutomaticClipping,
	}
}

// Guarantee returns the guarantee of one run with these settings at delta, in [0, 1]. Its epsilon is the smallest that
// the bounds of o give, or +Inf if they give none. Guarantee reads only the fields that [Privacy.Event] reads; the
// others may be zero. It returns the errors of [accountant.Epsilon], which wrap [accountant.ErrInvalid].
//
// The guarantee covers this run alone. Settings that were chosen by training on the same data cost more: see package
// tuner.
func (p Privacy) Guarantee(delta float64, o accountant.Options) (accountant.Guarantee, error) {
	return accountant.Epsilon(p.Event(), delta, o)
}

// Calibrate returns p with the smallest noise multiplier, rounded up, whose guarantee at delta is at most epsilon, and
// that guarantee. It ignores the noise multiplier of p. The result has 0 if a run without noise costs no more than
// epsilon, such as a run of no steps. Calibrate reads only the fields that [Privacy.Event] reads, and copies the
// others.
//
// It returns the errors of [accountant.CalibrateNoise], which wrap [accountant.ErrInfeasible] if no noise is enough,
// and [accountant.ErrInvalid] if an argument or a setting is invalid.
func Calibrate(p Privacy, epsilon, delta float64, o accountant.Options) (Privacy, accountant.Guarantee, error) {
	noise, err := accountant.CalibrateNoise(epsilon, delta, o, func(noise float64) accountant.Event {
		return p.withNoiseMultiplier(noise).Event()
	})
	if err != nil {
		return Privacy{}, accountant.Guarantee{}, err
	}
	p = p.withNoiseMultiplier(noise)
	g, err := p.Guarantee(delta, o)
	return p, g, err
}

func (p Privacy) withNoiseMultiplier(noise float64) Privacy {
	p.NoiseMultiplier = noise
	return p
}

// Key is the secret from which a run makes all its random draws. With the key one can remove the noise from a released
// model, so keep it as private as the data. Make one by [NewKey]. A key is an array of 32 bytes. No format and no
// encoding shows it: to resume a run in another process, keep key[:].
type Key = random.Key

// NewKey returns a key drawn by the operating system.
func NewKey() Key { return random.NewKey() }

// InsecureKey returns a key made from a seed, for runs that must be repeated exactly. A model trained with it
// has no privacy guarantee, because a seed can be guessed.
func InsecureKey(seed uint64) Key { return random.InsecureKey(seed) }
