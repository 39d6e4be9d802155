package train

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/internal/safetensors"
)

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

func TestStateRefusesDamage(t *testing.T) {
	good := encode(t, exampleState())
	changed := bytes.Clone(good)
	changed[len(good)-1] ^= 1
	for name, data := range map[string][]byte{"nothing": nil, "cut": good[:len(good)-1], "longer": append(bytes.Clone(good), 0), "changed": changed} {
		if err := new(State).UnmarshalBinary(data); !errors.Is(err, ErrState) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Bytes with a right checksum are refused, too, if they can't be a state.
func TestStateRefusesWrongStructure(t *testing.T) {
	for name, change := range map[string]func(*stateHeader, *[]safetensors.Tensor){
		"a short run":        func(h *stateHeader, _ *[]safetensors.Tensor) { h.Run = h.Run[:31] },
		"step too large":     func(h *stateHeader, _ *[]safetensors.Tensor) { h.Step = maxSteps + 1 },
		"negative step":      func(h *stateHeader, _ *[]safetensors.Tensor) { h.Step, h.Updates, h.Pending = -1, -1, 0 },
		"too many updates":   func(h *stateHeader, _ *[]safetensors.Tensor) { h.Updates = h.Step + 1 },
		"negative updates":   func(h *stateHeader, _ *[]safetensors.Tensor) { h.Updates = -1 },
		"too many waiting":   func(h *stateHeader, _ *[]safetensors.Tensor) { h.Pending = h.Step },
		"negative waiting":   func(h *stateHeader, _ *[]safetensors.Tensor) { h.Pending = -1 },
		"too many tensors":   func(h *stateHeader, _ *[]safetensors.Tensor) { h.Groups[3] = 1 },
		"a negative number":  func(h *stateHeader, _ *[]safetensors.Tensor) { h.Groups = [4]int{-1, 5} },
		"one tensor fewer":   func(h *stateHeader, _ *[]safetensors.Tensor) { h.Groups[0]-- },
		"a tensor left over": func(_ *stateHeader, all *[]safetensors.Tensor) { *all = append(*all, (*all)[0]) },
		"integers":           func(_ *stateHeader, all *[]safetensors.Tensor) { (*all)[0].Data, (*all)[0].Ints = nil, []int64{1, 2} },
	} {
		var h stateHeader
		all, err := safetensors.Unseal(stateKind, encode(t, exampleState()), &h)
		if err != nil {
			t.Fatal(err)
		}
		change(&h, &all)
		data, err := safetensors.Seal(stateKind, h, all)
		if err != nil {
			t.Fatal(err)
		}
		if err := new(State).UnmarshalBinary(data); !errors.Is(err, ErrState) || strings.Contains(err.Error(), "checksum") {
			t.Errorf("%s: %v", name, err)
		}
	}
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
			Own:    group.Draw(t, "own"),
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

// otherRuns make the settings of another run.
var otherRuns = map[string]func(*Settings){
	"sampling rate": func(s *Settings) { s.Privacy.SamplingRate = 0.26 },
	"noise":         func(s *Settings) { s.Privacy.NoiseMultiplier = 0 },
	"clipping norm": func(s *Settings) { s.Privacy.ClippingNorm = 1 },
	"clipping":      func(s *Settings) { s.Privacy.Clipping = AutomaticClipping },
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
	"group":         grouped(ParameterGroup{[]string{"w"}, 2, 1}),
	"no decay":      grouped(ParameterGroup{[]string{"w"}, 2, 0}),
	"group's rate":  grouped(ParameterGroup{[]string{"w"}, 3, 1}),
	"group of ones": grouped(ParameterGroup{[]string{"w"}, 1, 1}),
	"its parameter": grouped(ParameterGroup{[]string{"b"}, 2, 1}),
	"both":          grouped(ParameterGroup{[]string{"w", "b"}, 2, 1}),
	"two groups":    grouped(ParameterGroup{[]string{"w"}, 2, 1}, ParameterGroup{[]string{"b"}, 2, 1}),
	"key":           func(s *Settings) { s.Key = InsecureKey(8) },
	"trial":         func(s *Settings) { s.Trial = 1 },
	"no members":    func(s *Settings) { s.Members = []int32{} },
	"some members":  func(s *Settings) { s.Members = []int32{1, 2} },
}

func grouped(groups ...ParameterGroup) func(*Settings) {
	return func(s *Settings) { s.Optimizer.Groups = groups }
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
