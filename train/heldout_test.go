package train

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"pgregory.net/rapid"
)

// quiet is so little noise that it rounds to none.
const quiet = 1e-9

func classesOf(t testing.TB, labels ...int32) *Classification {
	t.Helper()
	samples := make([]float32, 2*len(labels))
	for i := range samples {
		samples[i] = float32(i)
	}
	c, err := NewClassification(samples, labels, 3)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func holdOut(t testing.TB, all Labelled, noise float64, rows ...int32) *HeldOut {
	t.Helper()
	h, err := NewHeldOut(all, rows, HeldOutSettings{Rate: 0.25, NoiseMultiplier: noise})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Without noise scores are as the doc comment defines them, computed by hand.
func TestHeldOutScores(t *testing.T) {
	h := holdOut(t, classesOf(t, 0, 1, 2, 1, 0, 2), quiet, 1, 2, 5)
	outputs := []float32{0, 9, 1 /* right */, 3, 2, 1 /* wrong */, float32(math.NaN()), 0, 5 /* wrong */}
	stream := h.stream(Key{1}, "test", nil)
	// A right and two wrong samples count -1/2 together; the nominal size is 1.5.
	if got, want := h.noisyScore(outputs, 6, stream), 0.5-0.5/1.5; math.Abs(got-want) > 1e-12 {
		t.Errorf("score %v, want %v", got, want)
	}
	released, err := h.Release(outputs, 6, Key{1})
	// Two of the held-out labels 1, 2 and 2 are in the largest class.
	if want := 0.5 - 0.5/1.5; err != nil || math.Abs(released.Score-want) > 1e-12 || released.Constant != 1 {
		t.Errorf("released %+v, %v; want score %v and constant 2/1.5, cut to 1", released, err, want)
	}
	// By log loss probabilities 3/4, 1/4 and one too small to count lose ln(4/3)/8, ln(4)/8 and 1.
	l, err := NewHeldOut(classesOf(t, 0, 1, 2, 1, 0, 2), []int32{1, 2, 5}, HeldOutSettings{Rate: 0.25, NoiseMultiplier: quiet, LogLoss: true})
	if err != nil {
		t.Fatal(err)
	}
	third, gone := float32(math.Log(3)), float32(math.Inf(-1))
	outputs = []float32{0, third, gone, third, gone, 0, 0, 99, 5}
	mean := 0.5 - (1.5-math.Log(4./3)/8-math.Log(4)/8-1)/1.5
	// The grid moves each sample's count by at most half of 2^-10, 8 nats of which are .004.
	if got, released := l.noisyScore(outputs, 6, stream), must(l.Release(outputs, 6, Key{1})); math.Abs(got+8*mean) > 0.008 || math.Abs(released.Score+8*mean) > 0.008 ||
		math.Abs(released.Constant-(2*math.Log(2./3)+math.Log(1./3))/3) > 1e-12 || released.Interval[0] >= released.Score || released.Interval[1] <= released.Score || l.Metric() != NegativeLogLoss {
		t.Errorf("score %v, released %+v, want %v and the constant of shares 1/3 and 2/3", got, released, -8*mean)
	}
	l, err = NewHeldOut(classesOf(t, 0, 1, 2, 1, 0, 2), []int32{1, 3}, HeldOutSettings{Rate: 0.25, NoiseMultiplier: quiet, LogLoss: true})
	if one := must(l.Release(outputs[:6], 6, Key{1})); err != nil || one.Constant != 0 || math.Signbit(one.Constant) {
		t.Errorf("one class: %v, %v; want a constant of 0, and not of -0", one.Constant, err)
	}
	// A noisy sum below 0 is no share, and a share below e^-8 loses 8.
	if a, b := sharesLoss([]float64{3, -1, 1}), sharesLoss([]float64{9999, 1}); math.Abs(a-(math.Log(4)/4+math.Log(4./3)*3/4)) > 1e-12 || math.Abs(b-(8e-4+0.9999*math.Log(1/0.9999))) > 1e-12 {
		t.Errorf("shares lose %v and %v", a, b)
	}
	numbers, err := NewRegression([]float32{1, 2, 3, 4}, []float32{1, -1, 0.5, 8})
	if err != nil {
		t.Fatal(err)
	}
	h = holdOut(t, numbers, quiet, 0, 1, 3)
	outputs = []float32{0, -1, float32(math.Inf(1))} // errors 1, 0 and one that is clipped
	// Shares of 1/4, 0 and 1; the nominal size is 1, so the mean share is 1/2 - (1/4 + 1/2 - 1/2).
	if got, want := h.noisyScore(outputs, 4, h.stream(Key{1}, "test", nil)), 1-4*(0.5-0.25); math.Abs(got-want) > 1e-12 {
		t.Errorf("score %v, want %v", got, want)
	}
	// The answer 0 has errors 1, -1 and 8, which count 1/4, 1/4 and -1/2; the nominal size is now 10.
	released, err = h.Release(outputs, 40, Key{1})
	if want := 1 - (0.5-0.25/10)/0.5; err != nil || math.Abs(released.Score-want) > 1e-12 || released.Constant != 0 {
		t.Errorf("released %+v, %v; want score %v", released, err, want)
	}
}

// Any held-out sample, with any outputs for it, moves the score's sum by at most 1/2, and the released sums by a vector
// of length at most 1/sqrt 2. Sums are on the grid.
func TestHeldOutSensitivity(t *testing.T) {
	any := rapid.Float32()
	rapid.Check(t, func(t *rapid.T) {
		var h *HeldOut
		var outputs []float32
		settings := HeldOutSettings{Rate: 0.5, NoiseMultiplier: 1}
		if rapid.Bool().Draw(t, "regression") {
			r, err := NewRegression([]float32{0}, []float32{any.Filter(finite32).Draw(t, "label")})
			if err != nil {
				t.Fatal(err)
			}
			h, _ = NewHeldOut(r, []int32{0}, settings)
			outputs = []float32{any.Draw(t, "output")}
		} else {
			c, err := NewClassification([]float32{0}, []int32{rapid.Int32Range(0, 2).Draw(t, "label")}, 3)
			if err != nil {
				t.Fatal(err)
			}
			settings.LogLoss = rapid.Bool().Draw(t, "log loss")
			h, _ = NewHeldOut(c, []int32{0}, settings)
			outputs = []float32{any.Draw(t, "a"), any.Draw(t, "b"), any.Draw(t, "c")}
		}
		counts := []float64{h.sum(outputs)}
		for _, c := range h.constant {
			counts = append(counts, c[0])
		}
		squares := 0.0
		for _, v := range counts {
			squares += v * v
			if v*1024 != math.Trunc(v*1024) {
				t.Fatalf("%v isn't on the grid", v)
			}
		}
		if !(math.Abs(counts[0]) <= 0.5) || !(squares <= 0.5) {
			t.Fatalf("one sample counts %v", counts)
		}
	})
}

func finite32(v float32) bool { return v-v == 0 }

// Noise of scores is normal with the stated deviations. Falsely rejects with probability below 1e-6: mean and variance
// of 4,000 draws are each beyond five of their standard deviations.
func TestHeldOutNoise(t *testing.T) {
	const draws, noise, samples = 4000, 7, 400
	set := classesOf(t, make([]int32, samples)...)
	h := holdOut(t, set, noise, 3)
	outputs := []float32{1, 0, 0}
	var scores, released moments
	for i := range draws {
		key := Key{byte(i), byte(i >> 8), 1}
		scores.add(h.noisyScore(outputs, samples, h.stream(key, "a run", nil)))
		r, err := h.Release(outputs, samples, key)
		if err != nil {
			t.Fatal(err)
		}
		released.add(r.Score)
	}
	size, right := 0.25*samples, 0.5+0.5/(0.25*samples)
	scores.check(t, draws, right, noise/2./size)
	released.check(t, draws, right, noise/math.Sqrt2/size)
}

type moments struct{ sum, squares float64 }

func (m *moments) add(v float64) { m.sum += v; m.squares += v * v }

func (m *moments) check(t *testing.T, n, mean, deviation float64) {
	t.Helper()
	got := m.sum / n
	variance := m.squares/n - got*got
	if math.Abs(got-mean) > 5*deviation/math.Sqrt(n) || math.Abs(variance/deviation/deviation-1) > 5*math.Sqrt(2/n) {
		t.Errorf("mean %v and deviation %v, want %v and %v", got, math.Sqrt(variance), mean, deviation)
	}
}

// Two scores share noise only if everything that they depend on is the same.
func TestHeldOutNoiseIsNotShared(t *testing.T) {
	set := classesOf(t, 0, 1, 2, 1, 0, 2)
	other := classesOf(t, 0, 1, 2, 1, 0, 1)
	draw := func(h *HeldOut, key Key, what string, model ...byte) uint64 {
		return h.stream(key, what, model).Uint64()
	}
	h := holdOut(t, set, 2, 1, 2)
	faster, err := NewHeldOut(set, []int32{1, 2}, HeldOutSettings{Rate: 0.26, NoiseMultiplier: 2})
	if err != nil {
		t.Fatal(err)
	}
	loss := must(NewHeldOut(set, []int32{1, 2}, HeldOutSettings{Rate: 0.25, NoiseMultiplier: 2, LogLoss: true}))
	seen := map[uint64]string{}
	for name, word := range map[string]uint64{
		"another metric": draw(loss, Key{1}, "a run", 1),
		"itself":         draw(h, Key{1}, "a run", 1), "another key": draw(h, Key{2}, "a run", 1), "another use": draw(h, Key{1}, "a model", 1),
		"another model": draw(h, Key{1}, "a run", 2), "more noise": draw(holdOut(t, set, 3, 1, 2), Key{1}, "a run", 1),
		"other rows": draw(holdOut(t, set, 2, 1, 3), Key{1}, "a run", 1), "one more row": draw(holdOut(t, set, 2, 1, 2, 3), Key{1}, "a run", 1),
		"another row of the training": draw(holdOut(t, other, 2, 1, 2), Key{1}, "a run", 1), "another rate": draw(faster, Key{1}, "a run", 1),
	} {
		if before, ok := seen[word]; ok {
			t.Errorf("%s has the noise of %s", name, before)
		}
		seen[word] = name
	}
	if again := draw(holdOut(t, set, 2, 1, 2), Key{1}, "a run", 1); seen[again] != "itself" {
		t.Error("the same score has other noise")
	}
}

// A run is scored on samples that it doesn't train on, and on no others.
func TestHeldOutRuns(t *testing.T) {
	data := threeClouds(t, 60)
	l, err := Load(&fakeEngine{}, logistic(t, rand.NewPCG(3, 4)), data.Data)
	if err != nil {
		t.Fatal(err)
	}
	held := []int32{4, 7}
	h := holdOut(t, data, 3, held...)
	score := func(members []int32, on Labelled) (float64, error) {
		s := settings()
		s.Members = members
		g, err := l.Start(s)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		scores, err := g.Score(context.Background(), on, 0)
		return slices.Max(append(scores, math.Inf(-1))), err
	}
	rest := slices.DeleteFunc(upTo(60), func(i int32) bool { return slices.Contains(held, i) })
	a, err := score(rest, h)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := score(rest[1:], h); err != nil || a == b {
		t.Errorf("runs of other members have scores %v and %v, %v", a, b, err)
	}
	var wrong *SettingError
	if _, err := score(nil, h); !errors.As(err, &wrong) {
		t.Errorf("a run on all samples: %v", err)
	}
	if _, err := score([]int32{1, 7, 9}, h); !errors.As(err, &wrong) {
		t.Errorf("a run on a held-out sample: %v", err)
	}
	var bad *DataError
	if _, err := score(rest, holdOut(t, threeClouds(t, 59), 3, held...)); !errors.As(err, &bad) {
		t.Errorf("samples of other data: %v", err)
	}
	if _, err := score(rest, holdOut(t, data, 3)); err != nil { // by chance nothing is held out
		t.Errorf("no held-out sample: %v", err)
	}
	if h.Samples() != 0 || !math.IsNaN(h.Constant()) || !math.IsNaN(h.score(nil)) {
		t.Error("something private is told without noise")
	}
}

func upTo(n int32) (out []int32) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

func TestHeldOutIsChecked(t *testing.T) {
	set := classesOf(t, 0, 1, 2)
	for _, s := range []HeldOutSettings{{}, {Rate: 1, NoiseMultiplier: 1}, {Rate: -0.1, NoiseMultiplier: 1}, {Rate: 0.1}, {Rate: 0.1, NoiseMultiplier: math.Inf(1)}, {Rate: math.NaN(), NoiseMultiplier: 1}} {
		var wrong *SettingError
		if _, err := NewHeldOut(set, nil, s); !errors.As(err, &wrong) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	good := HeldOutSettings{Rate: 0.1, NoiseMultiplier: 1}
	for _, rows := range [][]int32{{3}, {-1}, {1, 1}, {2, 0}} {
		if _, err := NewHeldOut(set, rows, good); err == nil {
			t.Errorf("rows %v are taken", rows)
		}
	}
	held := holdOut(t, set, 1, 1)
	for _, all := range []Labelled{nil, (*Classification)(nil), (*Regression)(nil), &Classification{}, held} {
		if _, err := NewHeldOut(all, nil, good); err == nil {
			t.Errorf("held out of a %T", all)
		}
	}
	if _, err := held.Release([]float32{1}, 3, Key{1}); err == nil {
		t.Error("released by too few outputs")
	}
	if e := good.Event(); e != (accountant.Gaussian{NoiseMultiplier: 1}) {
		t.Errorf("a score costs %#v", e)
	}
}
