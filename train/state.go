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

// State is everything that a run carries from step to step: parameters, the optimizer's moments and the
// number of steps done. Random streams are named by key, trial and step, so the step is their position
// as well. A state belongs to one run, and a [Trainer] restores no other's. Its checksum finds damage, not intent: a
// run that goes on from a state whose parameters were edited draws the noise of the one that didn't.
//
// Its encoding is [State.MarshalBinary]'s.
type State struct {
	run   [sha256.Size]byte // fingerprint of the run's settings
	inner tensors
}

// tensors is an engine's state without its layout, which is no part of the encoding.
type tensors struct {
	Step   int
	Params [][]float32
	First  [][]float32
	Second [][]float32
}

// laidOut returns the state as an engine takes it.
func (t tensors) laidOut(l engine.Layout) (engine.State, error) {
	for _, group := range [][][]float32{t.Params, t.First, t.Second} {
		fits := func(values []float32, length int) bool { return len(values) == length }
		if group != nil && !slices.EqualFunc(group, l.Lengths, fits) {
			return engine.State{}, fmt.Errorf("%w: its tensors don't have the model's sizes", ErrState)
		}
	}
	return engine.State{Step: t.Step, Params: l.Join(t.Params), First: l.Join(t.First), Second: l.Join(t.Second)}, nil
}

// Step returns the number of steps done.
func (s State) Step() int { return s.inner.Step }

// ErrState says that bytes are no state: cut short, changed, or of another version.
var ErrState = errors.New("not a training state, or a damaged one")

// stateMagic names the encoding and its version.
const stateMagic = "dptrain state 1\n"

// MarshalBinary encodes the state. All numbers are little-endian:
//
//	magic    "dptrain state 1\n"
//	run      32 bytes, the fingerprint of the run
//	step     uint64
//	3 groups (parameters, first moments, second moments), each:
//	         uint32 number of tensors, then for each tensor uint32 length and that many float32
//	checksum 32 bytes, SHA-256 of all before
//
// JSON would not do: it has no NaN, and a run that diverged must be resumable like any other.
func (s State) MarshalBinary() ([]byte, error) {
	out := append([]byte(stateMagic), s.run[:]...)
	out = binary.LittleEndian.AppendUint64(out, uint64(s.inner.Step))
	for _, group := range [][][]float32{s.inner.Params, s.inner.First, s.inner.Second} {
		out = appendTensors(out, group)
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

// UnmarshalBinary decodes what MarshalBinary wrote and nothing else; the error wraps [ErrState].
func (s *State) UnmarshalBinary(data []byte) error {
	body, ok := bytes.CutPrefix(data, []byte(stateMagic))
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

// decodeState reads what stands between magic and checksum.
func decodeState(body []byte) (State, error) {
	r := stateReader{rest: body}
	var s State
	copy(s.run[:], r.take(len(s.run)))
	step := r.uint64()
	s.inner.Params = r.tensors()
	s.inner.First = r.tensors()
	s.inner.Second = r.tensors()
	switch {
	case r.short:
		return State{}, fmt.Errorf("%w: cut short", ErrState)
	case len(r.rest) > 0:
		return State{}, fmt.Errorf("%w: %d bytes too many", ErrState, len(r.rest))
	case step > maxSteps:
		return State{}, fmt.Errorf("%w: step %d", ErrState, step)
	}
	s.inner.Step = int(step)
	return s, nil
}

// stateReader reads from rest. Once it comes up short it returns zeros.
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

// tensors never allocates more than the bytes at hand can fill: lengths are not to be trusted.
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
