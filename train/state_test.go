package train

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sealed returns the bytes that decodeState reads with magic and checksum.
func sealed(body []byte) []byte {
	out := append([]byte(stateMagic), body...)
	sum := sha256.Sum256(out)
	return append(out, sum[:]...)
}

func encode(t testing.TB, s State) []byte {
	t.Helper()
	data, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func exampleState() State {
	return State{run: [32]byte{1, 2, 3}, privacy: Privacy{SamplingRate: 0.5, NoiseMultiplier: 1, ClippingNorm: 2, NominalSize: -2}, inner: tensors{
		Step: 258, Updates: 3, Pending: 1,
		Params: [][]float32{{1, -2.5}, {float32(math.Inf(1))}},
		First:  [][]float32{{0.5, 0}, {float32(math.NaN())}},
	}}
}

// A state of an earlier encoding is told from damage.
func TestStateOfAnotherVersion(t *testing.T) {
	err := new(State).UnmarshalBinary(append([]byte("dptrain state 1\n"), make([]byte, 200)...))
	if !errors.Is(err, ErrState) || !strings.Contains(err.Error(), "another version") {
		t.Errorf("got %v", err)
	}
}

// The format, written out by hand from the comment on MarshalBinary.
func TestStateFormat(t *testing.T) {
	want := hex.EncodeToString([]byte("dptrain state 2\n")) +
		"010203" + strings.Repeat("00", 29) + // run
		"000000000000e03f" + "000000000000f03f" + "0000000000000040" + "00000000000000c0" + // 0.5, 1, 2, -2
		"0201000000000000" + "0300000000000000" + "0100000000000000" + // step 258, 3 updates and a noisy mean
		"02000000" + "02000000" + "0000803f" + "000020c0" + "01000000" + "0000807f" +
		"02000000" + "02000000" + "0000003f" + "00000000" + "01000000" + "0000c07f" +
		"00000000"
	got := hex.EncodeToString(encode(t, exampleState()))
	if got[:len(got)-2*sha256.Size] != want {
		t.Errorf("got  %s\nwant %s", got[:len(got)-2*sha256.Size], want)
	}
}

func TestStateRefusesDamage(t *testing.T) {
	good := encode(t, exampleState())
	var s State
	if err := s.UnmarshalBinary(good); err != nil {
		t.Fatal(err)
	}
	for i := range good {
		damaged := bytes.Clone(good)
		damaged[i] ^= 0x10
		if err := s.UnmarshalBinary(damaged); !errors.Is(err, ErrState) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
		if err := s.UnmarshalBinary(good[:i]); !errors.Is(err, ErrState) {
			t.Fatalf("cut to %d bytes: %v", i, err)
		}
	}
	if err := s.UnmarshalBinary(append(good, 0)); !errors.Is(err, ErrState) {
		t.Fatalf("a byte too many: %v", err)
	}
}

// The bytes are sealed again after the change, so that the parser has to refuse them.
func TestStateRefusesWrongStructure(t *testing.T) {
	good := encode(t, exampleState())
	body := good[len(stateMagic) : len(good)-sha256.Size]
	step, params := 64, 88
	tests := map[string][]byte{
		"cut short":         body[:len(body)-1],
		"a byte too many":   append(bytes.Clone(body), 0),
		"step too large":    change(body, step+4, 1),
		"too many updates":  change(body, step+9, 2),
		"too many waiting":  change(body, step+17, 1),
		"too many tensors":  change(body, params+3, 0xff),
		"tensor too long":   change(body, params+7, 0xff),
		"one tensor fewer":  change(body, params, 1),
		"nothing":           nil,
		"the fingerprint":   body[:32],
		"one group missing": body[:len(body)-4],
	}
	for name, body := range tests {
		var s State
		if err := s.UnmarshalBinary(sealed(body)); !errors.Is(err, ErrState) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func change(body []byte, i int, to byte) []byte {
	out := bytes.Clone(body)
	out[i] = to
	return out
}

func TestStateRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.Map(rapid.Uint32(), math.Float32frombits) // NaNs with their payloads too
		group := rapid.SliceOfN(rapid.SliceOfN(bits, 0, 5), 0, 3)
		step := rapid.IntRange(0, maxSteps).Draw(t, "step")
		updates := rapid.IntRange(0, step).Draw(t, "updates")
		s := State{inner: tensors{
			Step: step, Updates: updates, Pending: rapid.IntRange(0, step-updates).Draw(t, "pending"),
			Params: group.Draw(t, "params"),
			First:  group.Draw(t, "first"),
			Second: group.Draw(t, "second"),
		}}
		copy(s.run[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "run"))
		data, _ := s.MarshalBinary()
		var back State
		if err := back.UnmarshalBinary(data); err != nil {
			t.Fatal(err)
		}
		again, _ := back.MarshalBinary()
		if !bytes.Equal(data, again) {
			t.Fatalf("%+v came back as %+v", s, back)
		}
	})
}

// Accepted bytes are those that MarshalBinary writes: a state has one encoding.
func FuzzState(f *testing.F) {
	good := encode(f, exampleState())
	f.Add(good[len(stateMagic) : len(good)-sha256.Size])
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{0xff}, 100))
	f.Fuzz(func(t *testing.T, body []byte) {
		var s State
		if err := s.UnmarshalBinary(body); err == nil {
			t.Fatal("accepted without a checksum")
		}
		data := sealed(body)
		if err := s.UnmarshalBinary(data); err != nil {
			if !errors.Is(err, ErrState) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		if again := encode(t, s); !bytes.Equal(again, data) {
			t.Fatalf("accepted %x, writes %x", data, again)
		}
	})
}

// otherRuns make the settings of another run.
var otherRuns = map[string]func(*Settings){
	"sampling rate": func(s *Settings) { s.Privacy.SamplingRate = 0.26 },
	"noise":         func(s *Settings) { s.Privacy.NoiseMultiplier = 0 },
	"clipping norm": func(s *Settings) { s.Privacy.ClippingNorm = 1 },
	"steps":         func(s *Settings) { s.Privacy.Steps = 51 },
	"nominal size":  func(s *Settings) { s.Privacy.NominalSize = 61 },
	"optimizer":     func(s *Settings) { s.Optimizer = Adam(0.1) },
	"learning rate": func(s *Settings) { s.Optimizer.LearningRate = 0.2 },
	"momentum":      func(s *Settings) { s.Optimizer = Momentum(0.1, 0.9) },
	"less momentum": func(s *Settings) { s.Optimizer = Momentum(0.1, 0.8) },
	"nesterov":      func(s *Settings) { s.Optimizer = Nesterov(0.1, 0.9) },
	"beta1":         func(s *Settings) { s.Optimizer = Adam(0.1); s.Optimizer.Beta1 = 0.8 },
	"beta2":         func(s *Settings) { s.Optimizer = Adam(0.1); s.Optimizer.Beta2 = 0.99 },
	"epsilon":       func(s *Settings) { s.Optimizer = Adam(0.1); s.Optimizer.Epsilon = 1e-6 },
	"adamw":         func(s *Settings) { s.Optimizer = AdamW(0.1, 0) },
	"adamw's decay": func(s *Settings) { s.Optimizer = AdamW(0.1, 0.01) },
	"decay":         func(s *Settings) { s.Optimizer.WeightDecay = 0.01 },
	"linear":        func(s *Settings) { s.Optimizer.Schedule = Linear(0) },
	"linear to 0.1": func(s *Settings) { s.Optimizer.Schedule = Linear(0.1) },
	"cosine":        func(s *Settings) { s.Optimizer.Schedule = Cosine(0) },
	"warm-up":       func(s *Settings) { s.Optimizer.Schedule = Warmup(0.1, Linear(0)) },
	"longer warmup": func(s *Settings) { s.Optimizer.Schedule = Warmup(0.2, Linear(0)) },
	"piecewise":     func(s *Settings) { s.Optimizer.Schedule = Piecewise(Piece{0.5, 0.1}) },
	"function":      func(s *Settings) { s.Optimizer.Schedule = ScheduleFunc("f", func(int, int) float64 { return 1 }) },
	"its namesake":  func(s *Settings) { s.Optimizer.Schedule = ScheduleFunc("f", func(int, int) float64 { return 2 }) },
	"another name":  func(s *Settings) { s.Optimizer.Schedule = ScheduleFunc("g", func(int, int) float64 { return 1 }) },
	"accumulate":    func(s *Settings) { s.Optimizer.Accumulate = 2 },
	"accumulate 3":  func(s *Settings) { s.Optimizer.Accumulate = 3 },
	"average":       func(s *Settings) { s.Optimizer.Average = 0.9 },
	"mean":          func(s *Settings) { s.Optimizer.Average = 1 },
	"rule":          func(s *Settings) { s.Optimizer = OptimizerOf(sign{0.9}, 0.1) },
	"rule's field":  func(s *Settings) { s.Optimizer = OptimizerOf(unnamed{0.9}, 0.1) },
	"its value":     func(s *Settings) { s.Optimizer = OptimizerOf(unnamed{0.8}, 0.1) },
	"rule's type":   func(s *Settings) { s.Optimizer = OptimizerOf(renamed{unnamed{0.9}}, 0.1) },
	"key":           func(s *Settings) { s.Key = InsecureKey(8) },
	"trial":         func(s *Settings) { s.Trial = 1 },
	"no members":    func(s *Settings) { s.Members = []int32{} },
	"some members":  func(s *Settings) { s.Members = []int32{1, 2} },
}

func TestRestoreRefusesOtherRuns(t *testing.T) {
	trainer, _ := start(t, settings())
	if _, err := trainer.Train(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	state := must(trainer.State())
	for name, change := range otherRuns {
		s := settings()
		change(&s)
		other, _ := start(t, s)
		if err := other.Restore(state); err == nil {
			t.Errorf("%s: restored another run's state", name)
		}
	}
	same, _ := start(t, settings())
	if err := same.Restore(state); err != nil {
		t.Error(err)
	}
}
