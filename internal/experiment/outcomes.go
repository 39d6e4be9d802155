package experiment

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// outcomesMagic names the encoding of outcomes and its version.
const outcomesMagic = "dptrain outcomes 1\n"

// MaxOutcomes is the maximum length of encoded outcomes, in bytes.
const MaxOutcomes = 1 << 30

// Bits of an encoded outcome. Without failed and diverged it has a score.
const (
	outcomeDiverged = 1 << iota
	outcomeFailed
	outcomeHasModel
	outcomeBits
)

// MarshalOutcomes encodes outcomes of trials, exactly: every float keeps its bits. The bytes are as private as the
// outcomes. All numbers are little-endian, and a text is a uint32 length and its bytes:
//
//	magic    "dptrain outcomes 1\n"
//	count    uint32, then each outcome:
//	         uint32 trial, uint8 bits, float64 score, float64 seconds, text failure
//	         uint32 parameters, each a text name, uint8 axes, each uint32, and its values, float32
//	checksum 32 bytes, SHA-256 of all before
//
// Failure is empty, and there are no parameters, unless a bit says so.
func MarshalOutcomes(outcomes []tuner.PrivateOutcome) ([]byte, error) {
	out := outcomeWriter{bytes: []byte(outcomesMagic)}
	out.size(len(outcomes))
	for _, o := range outcomes {
		if err := out.outcome(o); err != nil {
			return nil, fmt.Errorf("encode the outcome of trial %d: %w", o.Trial, err)
		}
		if len(out.bytes) > MaxOutcomes-sha256.Size {
			return nil, fmt.Errorf("encode outcomes: more than %d bytes; encode fewer at a time", MaxOutcomes)
		}
	}
	sum := sha256.Sum256(out.bytes)
	return append(out.bytes, sum[:]...), nil
}

type outcomeWriter struct{ bytes []byte }

func (w *outcomeWriter) size(n int) { w.bytes = binary.LittleEndian.AppendUint32(w.bytes, uint32(n)) }
func (w *outcomeWriter) text(s string) {
	w.size(len(s))
	w.bytes = append(w.bytes, s...)
}
func (w *outcomeWriter) float(v float64) {
	w.bytes = binary.LittleEndian.AppendUint64(w.bytes, math.Float64bits(v))
}

func (w *outcomeWriter) outcome(o tuner.PrivateOutcome) error {
	var bits uint8
	if o.Diverged {
		bits |= outcomeDiverged
	}
	if o.Failure != "" {
		bits |= outcomeFailed
	}
	if o.Parameters != nil {
		bits |= outcomeHasModel
	}
	if o.Trial < 0 || o.Trial > math.MaxInt32 {
		return fmt.Errorf("want a number from 0 to %d", math.MaxInt32)
	}
	w.size(o.Trial)
	w.bytes = append(w.bytes, bits)
	w.float(o.Score)
	w.float(o.Trace.Seconds)
	w.text(o.Failure)
	w.size(len(o.Parameters))
	for _, p := range o.Parameters {
		if err := w.parameter(p); err != nil {
			return err
		}
	}
	return nil
}

func (w *outcomeWriter) parameter(p train.Parameter) error {
	if n, ok := elements(p.Shape); !ok || n != len(p.Values) {
		return fmt.Errorf("parameter %q of shape %v has %d values", p.Name, p.Shape, len(p.Values))
	}
	w.text(p.Name)
	w.bytes = append(w.bytes, uint8(len(p.Shape)))
	for _, d := range p.Shape {
		w.size(d)
	}
	for _, v := range p.Values {
		w.bytes = binary.LittleEndian.AppendUint32(w.bytes, math.Float32bits(v))
	}
	return nil
}

// elements returns the number of values of a shape, and whether it is one that can be encoded.
func elements(shape []int) (n int, ok bool) {
	if len(shape) > math.MaxUint8 {
		return 0, false
	}
	n = 1
	for _, d := range shape {
		if d < 0 || d > math.MaxInt32 || d > 0 && n > math.MaxInt32/d {
			return 0, false
		}
		n *= d
	}
	return n, true
}

// UnmarshalOutcomes decodes the bytes of [MarshalOutcomes], and accepts no others. It says nothing about whether the
// outcomes are right: the executor of the plan checks that. The error doesn't show what is private.
func UnmarshalOutcomes(data []byte) ([]tuner.PrivateOutcome, error) {
	outcomes, problem := unmarshalOutcomes(data)
	if problem != "" {
		return nil, fmt.Errorf("outcomes of trials: %s; fetch them again", problem)
	}
	return outcomes, nil
}

func unmarshalOutcomes(data []byte) (out []tuner.PrivateOutcome, problem string) {
	if len(data) > MaxOutcomes {
		return nil, fmt.Sprintf("%d bytes, more than %d", len(data), MaxOutcomes)
	}
	end := len(data) - sha256.Size
	if end < len(outcomesMagic) || !bytes.HasPrefix(data, []byte(outcomesMagic)) {
		return nil, "they don't begin like ones of this version"
	}
	if sum := sha256.Sum256(data[:end]); !bytes.Equal(sum[:], data[end:]) {
		return nil, "checksum differs"
	}
	r := outcomeReader{rest: data[len(outcomesMagic):end]}
	for range r.count(29) { // bytes of an outcome without texts and parameters
		out = append(out, r.outcome())
		if r.problem != "" {
			break
		}
	}
	if r.problem == "" && len(r.rest) > 0 {
		r.problem = fmt.Sprintf("%d bytes too many", len(r.rest))
	}
	if r.problem != "" {
		return nil, r.problem
	}
	return out, ""
}

// outcomeReader reads from rest. After its first problem it returns zeros.
type outcomeReader struct {
	rest    []byte
	problem string
}

func (r *outcomeReader) fail(problem string) {
	if r.problem == "" {
		r.problem = problem
	}
	r.rest = nil
}

// take returns the next n bytes. It checks n against the bytes at hand before anything is allocated.
func (r *outcomeReader) take(n int) []byte {
	if n > len(r.rest) {
		r.fail("cut short")
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

// size reads a number below 2^31.
func (r *outcomeReader) size() int {
	b := r.take(4)
	if b == nil {
		return 0
	}
	n := binary.LittleEndian.Uint32(b)
	if n > math.MaxInt32 {
		r.fail("a number is too large")
		return 0
	}
	return int(n)
}

// count reads a number of things of at least the given number of bytes each.
func (r *outcomeReader) count(each int) int {
	n := r.size()
	if n > len(r.rest)/each {
		r.fail("cut short")
		return 0
	}
	return n
}

func (r *outcomeReader) float() float64 {
	b := r.take(8)
	if b == nil {
		return 0
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

func (r *outcomeReader) text() string { return string(r.take(r.size())) }

func (r *outcomeReader) byte() uint8 {
	b := r.take(1)
	if b == nil {
		return 0
	}
	return b[0]
}

func (r *outcomeReader) outcome() tuner.PrivateOutcome {
	o := tuner.PrivateOutcome{Trial: r.size()}
	bits := r.byte()
	o.Diverged = bits&outcomeDiverged != 0
	o.Score = r.float()
	o.Trace.Seconds = r.float()
	o.Failure = r.text()
	if bits&outcomeHasModel != 0 {
		o.Parameters = []train.Parameter{}
	}
	for range r.count(5) {
		o.Parameters = append(o.Parameters, r.parameter())
		if r.problem != "" {
			break
		}
	}
	switch {
	case bits >= outcomeBits:
		r.fail("unknown bits")
	case bits&outcomeFailed != 0 != (o.Failure != ""):
		r.fail("a failure that its bits don't tell")
	case bits&outcomeHasModel == 0 && o.Parameters != nil:
		r.fail("a model that its bits don't tell")
	}
	return o
}

func (r *outcomeReader) parameter() train.Parameter {
	p := train.Parameter{Name: r.text()}
	p.Shape = make([]int, r.byte())
	for i := range p.Shape {
		p.Shape[i] = r.size()
	}
	n, ok := elements(p.Shape)
	if !ok || n > len(r.rest)/4 {
		r.fail("a parameter is cut short")
		return p
	}
	p.Values = make([]float32, n)
	for k := range p.Values {
		p.Values[k] = math.Float32frombits(binary.LittleEndian.Uint32(r.take(4)))
	}
	return p
}
