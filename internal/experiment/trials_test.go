package experiment

import (
	"bytes"
	"context"
	"crypto/sha256"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// post carries out trials by another plan of the same settings, one at a time from the last to the first, and sends
// each outcome as bytes.
type post struct {
	t    *testing.T
	plan *Plan
	key  train.Key
	runs int
}

func (p *post) Run(ctx context.Context, _ tuner.Plan, trials []int, done func(tuner.PrivateOutcome) error) error {
	for _, i := range slices.Backward(trials) {
		p.runs++
		outcomes, err := p.plan.PrivateTrials(ctx, cpu.New(cpu.Options{}), p.key, []int{i}, nil)
		if err != nil {
			return err
		}
		sent, err := MarshalOutcomes(outcomes)
		if err != nil {
			return err
		}
		received, err := UnmarshalOutcomes(sent)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(outcomes, received); diff != "" {
			p.t.Errorf("sent (-sent +received)\n%s", diff)
		}
		for _, o := range received {
			if err := done(o); err != nil {
				return err
			}
		}
	}
	return nil
}

// A run whose trials another process carries out releases what it releases alone.
func TestTrialsOfAnotherProcess(t *testing.T) {
	settings := own(t)
	for _, more := range [][]string{nil, {"privacy.variant=2"}, {"privacy.variant=baseline"}} {
		made := func() *Plan {
			p := resolve(t, true, append(slices.Clone(settings), more...)...)
			if err := p.Load(t.Context(), nil, new(recorder)); err != nil {
				t.Fatal(err)
			}
			return p
		}
		here, there := made(), made()
		key := here.Key()
		want, err := here.Run(t.Context(), cpu.New(cpu.Options{}), Job{Key: key}, nil)
		if err != nil {
			t.Fatal(err)
		}
		transport := &post{t: t, plan: there, key: key}
		got, err := here.Run(t.Context(), cpu.New(cpu.Options{}), Job{Key: key, Trials: transport, Store: newDrawer()}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(released(want), released(got)); diff != "" {
			t.Errorf("%q (-here +elsewhere)\n%s", more, diff)
		}
		n, err := here.PrivateTrialCount(key)
		if err != nil || n == 0 || n != transport.runs || n != len(want.Private.(privateTuning).Trials) {
			t.Errorf("%q: %d trials, %d carried out, %v", more, n, transport.runs, err)
		}
	}
}

// A plan that doesn't tune, or isn't ready, has no trials.
func TestPlansWithoutTrials(t *testing.T) {
	settings := own(t)
	once := resolve(t, false, settings...)
	if err := once.Load(t.Context(), nil, new(recorder)); err != nil {
		t.Fatal(err)
	}
	if _, err := once.PrivateTrials(t.Context(), cpu.New(cpu.Options{}), once.Key(), nil, nil); err == nil || !strings.Contains(err.Error(), "trains once") {
		t.Errorf("a training: %v", err)
	}
	tune := resolve(t, true, settings...)
	if _, err := tune.PrivateTrials(t.Context(), cpu.New(cpu.Options{}), tune.Key(), nil, nil); err == nil {
		t.Error("no data, and no error")
	}
	if _, err := new(Plan).PrivateTrialCount(tune.Key()); err == nil || !strings.Contains(err.Error(), "isn't settled") {
		t.Errorf("not settled: %v", err)
	}
	if _, err := tune.PrivateTrialCount(train.Key{}); err == nil {
		t.Error("a count by the zero key")
	}
}

// drawnOutcomes returns outcomes of all sorts, whose floats have any bits.
func drawnOutcomes(t *rapid.T) []tuner.PrivateOutcome {
	float := rapid.Map(rapid.Uint64(), math.Float64frombits)
	parameter := rapid.Custom(func(t *rapid.T) train.Parameter {
		p := train.Parameter{Name: rapid.String().Draw(t, "name"), Shape: []int{}}
		n := 1
		for range rapid.IntRange(0, 3).Draw(t, "axes") {
			d := rapid.IntRange(0, 3).Draw(t, "size")
			p.Shape, n = append(p.Shape, d), n*d
		}
		p.Values = make([]float32, n)
		for k := range p.Values {
			p.Values[k] = math.Float32frombits(rapid.Uint32().Draw(t, "value"))
		}
		return p
	})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) tuner.PrivateOutcome {
		o := tuner.PrivateOutcome{
			Trial: rapid.IntRange(0, math.MaxInt32).Draw(t, "trial"), Score: float.Draw(t, "score"),
			Diverged: rapid.Bool().Draw(t, "diverged"), Failure: rapid.String().Draw(t, "failure"),
			Trace: train.PrivateTrace{Seconds: float.Draw(t, "seconds")},
		}
		if rapid.Bool().Draw(t, "model") {
			o.Parameters = rapid.SliceOfN(parameter, 0, 3).Draw(t, "parameters")
		}
		return o
	}), 0, 4).Draw(t, "outcomes")
}

// sameBits reports whether outcomes are equal, NaN by its bits.
func sameBits(a, b []tuner.PrivateOutcome) bool {
	bits := cmp.Options{
		cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }),
		cmp.Comparer(func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }),
	}
	return len(a) == 0 && len(b) == 0 || cmp.Equal(a, b, bits)
}

// Outcomes come back bit for bit, and no bytes but their own are taken for them.
func TestOutcomesAsBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawnOutcomes(t)
		data, err := MarshalOutcomes(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := UnmarshalOutcomes(data)
		if err != nil || !sameBits(got, want) {
			t.Fatalf("%+v, %v, want %+v", got, err, want)
		}
		if _, err := UnmarshalOutcomes(data[:rapid.IntRange(0, len(data)-1).Draw(t, "length")]); err == nil {
			t.Fatal("cut short, and no error")
		}
		// What has a right checksum is read too, and encoded again it is the same.
		forged := slices.Clone(data)
		forged[rapid.IntRange(0, len(data)-sha256.Size-1).Draw(t, "position")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if _, err := UnmarshalOutcomes(forged); err == nil {
			t.Fatal("another bit, and no error")
		}
		sealOutcomes(forged)
		if read, err := UnmarshalOutcomes(forged); err == nil {
			if again, err := MarshalOutcomes(read); err != nil || !bytes.Equal(again, forged) {
				t.Fatalf("%x, %v, want %x", again, err, forged)
			}
		}
	})
}

// sealOutcomes puts the right checksum at the end of bytes that have one.
func sealOutcomes(data []byte) {
	end := len(data) - sha256.Size
	sum := sha256.Sum256(data[:end])
	copy(data[end:], sum[:])
}

// One outcome, byte by byte as the encoding is documented.
func TestOutcomesByteByByte(t *testing.T) {
	got, err := MarshalOutcomes([]tuner.PrivateOutcome{{
		Trial: 3, Score: 0.5, Trace: train.PrivateTrace{Seconds: 2},
		Parameters: []train.Parameter{{Name: "w", Shape: []int{1, 2}, Values: []float32{1, -2}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := "dptrain outcomes 1\n" + "\x01\x00\x00\x00" + "\x03\x00\x00\x00" + "\x04" +
		"\x00\x00\x00\x00\x00\x00\xe0\x3f" + "\x00\x00\x00\x00\x00\x00\x00\x40" + "\x00\x00\x00\x00" +
		"\x01\x00\x00\x00" + "\x01\x00\x00\x00w" + "\x02" + "\x01\x00\x00\x00\x02\x00\x00\x00" + "\x00\x00\x80\x3f" + "\x00\x00\x00\xc0"
	if got := string(got[:len(got)-sha256.Size]); got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// Outcomes that can't be encoded are refused, with their trial.
func TestOutcomesThatCantBeEncoded(t *testing.T) {
	for name, o := range map[string]tuner.PrivateOutcome{
		"number": {Trial: -1},
		"shape":  {Parameters: []train.Parameter{{Name: "w", Shape: []int{2}, Values: []float32{1}}}},
		"size":   {Parameters: []train.Parameter{{Name: "w", Shape: []int{-1, -1}, Values: []float32{1}}}},
		"axes":   {Parameters: []train.Parameter{{Name: "w", Shape: slices.Repeat([]int{1}, 256), Values: []float32{1}}}},
	} {
		if out, err := MarshalOutcomes([]tuner.PrivateOutcome{o}); out != nil || err == nil || !strings.Contains(err.Error(), "of trial") {
			t.Errorf("%s: %x, %v", name, out, err)
		}
	}
}

func FuzzUnmarshalOutcomes(f *testing.F) {
	for _, o := range [][]tuner.PrivateOutcome{
		nil,
		{{Trial: 2, Failure: "out of memory", Score: math.Inf(-1)}, {Diverged: true, Score: math.Inf(-1)}},
		{{Trial: 1, Score: 0.5, Parameters: []train.Parameter{{Name: "w", Shape: []int{2}, Values: []float32{1, 2}}}}},
	} {
		data, err := MarshalOutcomes(o)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) >= sha256.Size { // or else all inputs fail at the checksum
			sealOutcomes(data)
		}
		read, err := UnmarshalOutcomes(data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("an error of several lines: %v", err)
			}
			return
		}
		if again, err := MarshalOutcomes(read); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("%x, %v, want %x", again, err, data)
		}
	})
}
