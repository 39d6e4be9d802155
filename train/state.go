package train

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/engine"
)

// State is the state that a run carries from step to step: parameters, what its optimizer keeps and the number of steps
// taken. It holds no state of a random generator, because key, trial and step name each random stream. A state belongs
// to one run, and no other run can restore it. [State.MarshalBinary] encodes it.
//
// A state must not be edited: a run that continues from other parameters draws the same noise as the run that the state
// was taken from.
type State struct {
	run     [sha256.Size]byte // derived from the run's key and identity
	privacy Privacy           // of all its steps, those before [Settings.From] too; Steps is 0
	inner   tensors
}

// tensors is an engine's state by parameters, without the padding of its layout.
type tensors struct {
	Step    int
	Updates int // of the parameters: fewer than steps if noisy means are accumulated
	Pending int // noisy means since the last update
	Params  [][]float32
	First   [][]float32
	Second  [][]float32
	Own     [][]float32 // what an optimizer keeps that the engine doesn't have built in
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

// Privacy returns the privacy settings of the steps taken: its Event is theirs. A run can go on from the state with
// these settings alone, but for more steps.
func (s State) Privacy() Privacy {
	p := s.privacy
	p.Steps = s.Step()
	return p
}

// digest returns a hash of the state.
func (s State) digest() [sha256.Size]byte {
	encoded, _ := s.MarshalBinary() // it returns no error
	return sha256.Sum256(encoded)
}

// ErrState reports bytes that aren't an encoded state, or one that is cut short, changed or of another version.
var ErrState = errors.New("not a training state, or a damaged one")

// ErrOtherRun reports a state that was taken from another run.
var ErrOtherRun = errors.New("the state belongs to a run with other settings, key, model, data, initial values or engine")

// stateMagic names the encoding and its version.
const stateMagic = "dptrain state 2\n"

// MarshalBinary encodes the state. All numbers are little-endian:
//
//	magic    "dptrain state 2\n"
//	run      32 bytes, derived from the run's key and identity
//	privacy  4 float64: sampling rate, noise multiplier, clipping norm, nominal size
//	step     uint64, then uint64 updates of the parameters and uint64 noisy means since the last of them
//	3 groups (parameters, first moments, second moments), each:
//	         uint32 number of tensors, then for each tensor uint32 length and that many float32
//	4th group, of an optimizer that the engine doesn't have built in, unless it is empty: what it keeps
//	checksum 32 bytes, SHA-256 of all before
//
// The encoding isn't JSON, which has no NaN: a run that diverged must be resumable like any other. The checksum detects
// damage, but no forgery.
func (s State) MarshalBinary() ([]byte, error) {
	out := append([]byte(stateMagic), s.run[:]...)
	p := s.privacy
	for _, v := range []float64{p.SamplingRate, p.NoiseMultiplier, p.ClippingNorm, p.NominalSize} {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
	}
	for _, n := range []int{s.inner.Step, s.inner.Updates, s.inner.Pending} {
		out = binary.LittleEndian.AppendUint64(out, uint64(n))
	}
	for _, group := range [][][]float32{s.inner.Params, s.inner.First, s.inner.Second} {
		out = appendTensors(out, group)
	}
	if len(s.inner.Own) > 0 {
		out = appendTensors(out, s.inner.Own)
	}
	sum := sha256.Sum256(out)
	return append(out, sum[:]...), nil
}

func appendTensors(out []byte, group [][]float32) []byte {
	out = binary.LittleEndian.AppendUint32(out, uint32(len(group)))
	for _, tensor := range group {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(tensor)))
		for _, v := range tensor {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
		}
	}
	return out
}

// UnmarshalBinary decodes the bytes of [State.MarshalBinary]. The error wraps [ErrState].
func (s *State) UnmarshalBinary(data []byte) error {
	body, ok := bytes.CutPrefix(data, []byte(stateMagic))
	if !ok && bytes.HasPrefix(data, []byte("dptrain state ")) {
		return fmt.Errorf("%w: another version of dptrain made it; go on with that version", ErrState)
	}
	if !ok || len(body) < sha256.Size {
		return fmt.Errorf("%w: it doesn't begin like one", ErrState)
	}
	end := len(data) - sha256.Size
	if sum := sha256.Sum256(data[:end]); !bytes.Equal(sum[:], data[end:]) {
		return fmt.Errorf("%w: checksum differs", ErrState)
	}
	decoded, err := decodeState(body[:len(body)-sha256.Size])
	if err != nil {
		return err
	}
	*s = decoded
	return nil
}

// decodeState decodes the bytes between magic and checksum.
func decodeState(body []byte) (State, error) {
	r := stateReader{rest: body}
	var s State
	copy(s.run[:], r.take(len(s.run)))
	for _, v := range []*float64{&s.privacy.SamplingRate, &s.privacy.NoiseMultiplier, &s.privacy.ClippingNorm, &s.privacy.NominalSize} {
		*v = math.Float64frombits(r.uint64())
	}
	step, updates, pending := r.uint64(), r.uint64(), r.uint64()
	s.inner.Params = r.tensors()
	s.inner.First = r.tensors()
	s.inner.Second = r.tensors()
	if len(r.rest) > 0 && !r.short {
		if s.inner.Own = r.tensors(); len(s.inner.Own) == 0 && !r.short {
			return State{}, fmt.Errorf("%w: an empty group too many", ErrState) // a state has one encoding
		}
	}
	switch {
	case r.short:
		return State{}, fmt.Errorf("%w: cut short", ErrState)
	case len(r.rest) > 0:
		return State{}, fmt.Errorf("%w: %d bytes too many", ErrState, len(r.rest))
	case step > maxSteps:
		return State{}, fmt.Errorf("%w: step %d", ErrState, step)
	case updates > step || pending > step-updates:
		return State{}, fmt.Errorf("%w: %d updates and %d noisy means in %d steps", ErrState, updates, pending, step)
	}
	s.inner.Step, s.inner.Updates, s.inner.Pending = int(step), int(updates), int(pending)
	return s, nil
}

// stateReader reads from rest. After an attempt to read beyond its end it is short and returns zeros.
type stateReader struct {
	rest  []byte
	short bool
}

func (r *stateReader) take(n int) []byte {
	if n > len(r.rest) {
		r.short, r.rest = true, nil
		return make([]byte, n)
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *stateReader) uint32() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *stateReader) uint64() uint64 { return binary.LittleEndian.Uint64(r.take(8)) }

// tensors reads a group of tensors. It checks lengths against the bytes at hand before it allocates: they may be
// forged.
func (r *stateReader) tensors() [][]float32 {
	count := r.uint32()
	if uint64(count)*4 > uint64(len(r.rest)) {
		r.short = true
		return nil
	}
	if count == 0 {
		return nil
	}
	group := make([][]float32, count)
	for i := range group {
		length := r.uint32()
		if uint64(length)*4 > uint64(len(r.rest)) {
			r.short = true
			return nil
		}
		group[i] = make([]float32, length)
		for j := range group[i] {
			group[i][j] = math.Float32frombits(r.uint32())
		}
	}
	return group
}
