package train

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/safetensors"
)

// State is the state that a run carries from step to step: parameters, the optimizer's state and the number of steps
// taken. It needs no state of a random generator, because key, trial and step name each random stream. A state belongs
// to one run, and no other run can restore it. [State.MarshalBinary] encodes it.
//
// A state must not be edited: a run that continues from other parameters draws the same noise as the run that the state
// was taken from.
type State struct {
	run     [sha256.Size]byte // derived from the run's key and identity
	privacy Privacy           // of all its steps, also before [Settings.From]; Steps is 0
	inner   tensors
}

// tensors is an engine's state by parameters, without the padding of its layout.
type tensors struct {
	Step    int
	Updates int // of the parameters: fewer than steps with accumulation
	Pending int // noisy means since the last update
	Params  [][]float32
	First   [][]float32
	Second  [][]float32
	Own     [][]float32 // the state of an optimizer that the engine doesn't have built in
}

// laidOut returns the state in an engine's layout.
func (t tensors) laidOut(l engine.Layout) (engine.State, error) {
	for _, group := range [][][]float32{t.Params, t.First, t.Second} {
		fits := func(values []float32, length int) bool { return len(values) == length }
		if group != nil && !slices.EqualFunc(group, l.Lengths, fits) {
			return engine.State{}, fmt.Errorf("%w: its tensors don't have the model's sizes", ErrState)
		}
	}
	return engine.State{Step: t.Step, Params: l.Join(t.Params), First: l.Join(t.First), Second: l.Join(t.Second)}, nil
}

// Step returns the number of steps taken.
func (s State) Step() int { return s.inner.Step }

// Privacy returns the privacy settings of the steps taken; its Event is the event of these steps. A run can go on from
// the state only with these settings and more steps.
func (s State) Privacy() Privacy {
	p := s.privacy
	p.Steps = s.Step()
	return p
}

// digest returns a hash of the state.
func (s State) digest() [sha256.Size]byte {
	encoded, err := s.MarshalBinary()
	if err != nil {
		panic(err) // a run's settings are checked to be finite
	}
	return sha256.Sum256(encoded)
}

// ErrState reports bytes that aren't an encoded state, or are a truncated or changed one, or one of another version.
var ErrState = errors.New("not a training state, or a damaged one")

// ErrOtherRun reports a state that was taken from another run.
var ErrOtherRun = errors.New("the state belongs to a run with other settings, key, model, data, initial values or engine")

// stateKind names the encoding and its version.
const stateKind = "dptrain state 3"

// stateHeader is the header of an encoded state: all but its tensors.
type stateHeader struct {
	Run             []byte   `json:"run"`
	SamplingRate    float64  `json:"sampling_rate"`
	NoiseMultiplier float64  `json:"noise_multiplier"`
	ClippingNorm    float64  `json:"clipping_norm"`
	Clipping        Clipping `json:"clipping,omitempty"`
	NominalSize     float64  `json:"nominal_size"`
	Step            int      `json:"step"`
	Updates         int      `json:"updates"`
	Pending         int      `json:"pending"`
	Groups          [4]int   `json:"groups"` // the numbers of tensors: see groups
}

// groups returns the groups of tensors in the order of the encoding.
func (t *tensors) groups() [4]*[][]float32 {
	return [4]*[][]float32{&t.Params, &t.First, &t.Second, &t.Own}
}

// MarshalBinary encodes the state, with a checksum that detects damage, but no forgery. A run that diverged is encoded
// like any other, NaN by its bits.
func (s State) MarshalBinary() ([]byte, error) {
	p, t := s.privacy, s.inner
	h := stateHeader{s.run[:], p.SamplingRate, p.NoiseMultiplier, p.ClippingNorm, p.Clipping, p.NominalSize, t.Step, t.Updates, t.Pending, [4]int{}}
	var all []safetensors.Tensor
	for k, group := range t.groups() {
		h.Groups[k] = len(*group)
		for _, values := range *group {
			all = append(all, safetensors.Tensor{Shape: []int{len(values)}, Data: values})
		}
	}
	return safetensors.Seal(stateKind, h, all)
}

// UnmarshalBinary decodes the bytes of [State.MarshalBinary]. The error wraps [ErrState].
func (s *State) UnmarshalBinary(data []byte) error {
	var h stateHeader
	all, err := safetensors.Unseal(stateKind, data, &h)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrState, err)
	}
	t := tensors{Step: h.Step, Updates: h.Updates, Pending: h.Pending}
	switch {
	case len(h.Run) != len(s.run):
		return fmt.Errorf("%w: a run of %d bytes", ErrState, len(h.Run))
	case t.Step < 0 || t.Step > maxSteps:
		return fmt.Errorf("%w: step %d", ErrState, t.Step)
	case t.Updates < 0 || t.Updates > t.Step || t.Pending < 0 || t.Pending > t.Step-t.Updates:
		return fmt.Errorf("%w: %d updates and %d noisy means in %d steps", ErrState, t.Updates, t.Pending, t.Step)
	}
	for k, group := range t.groups() {
		if h.Groups[k] < 0 || h.Groups[k] > len(all) {
			return fmt.Errorf("%w: groups of %v tensors", ErrState, h.Groups)
		}
		for _, one := range all[:h.Groups[k]] {
			if one.Ints != nil {
				return fmt.Errorf("%w: tensors of integers", ErrState)
			}
			*group = append(*group, one.Data)
		}
		all = all[h.Groups[k]:]
	}
	if len(all) > 0 {
		return fmt.Errorf("%w: groups of %v tensors, and %d more", ErrState, h.Groups, len(all))
	}
	*s = State{run: [sha256.Size]byte(h.Run), inner: t, privacy: Privacy{
		SamplingRate: h.SamplingRate, NoiseMultiplier: h.NoiseMultiplier, ClippingNorm: h.ClippingNorm, Clipping: h.Clipping, NominalSize: h.NominalSize,
	}}
	return nil
}
