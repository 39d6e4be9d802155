package scores

import (
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/train"
	"pgregory.net/rapid"
)

// logs returns logits whose softmax are the given probabilities.
func logs(p ...float64) []float32 {
	out := make([]float32, len(p))
	for i, v := range p {
		out[i] = float32(math.Log(v))
	}
	return out
}

func near(a, b, by float64) bool { return math.Abs(a-b) <= by*(1+math.Abs(b)) }

// Five samples of two classes, by hand. Probabilities of the second class .9 .8 .6 .3 .2, labels 1 0 1 1 0.
func TestTwoClassesByHand(t *testing.T) {
	logits := logs(.1, .9, .2, .8, .4, .6, .7, .3, .8, .2)
	c, err := Classify(logits, []int32{1, 0, 1, 1, 0}, 2, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	// Each sample has its own bin, except for the two with .8: the second is wrong and the fifth right. The others'
	// gaps are .1, .4 and .7, and the gap of these two is |.5-.8|.
	for what, v := range map[string][2]float64{
		"accuracy": {c.Accuracy, 3.0 / 5},
		"log loss": {c.LogLoss, -(math.Log(.9) + math.Log(.2) + math.Log(.6) + math.Log(.3) + math.Log(.8)) / 5},
		"ECE":      {c.CalibrationError, (.1 + .4 + .7 + 2*.3) / 5},
		"AUC":      {c.AUC, 4.0 / 6},                // .9 beats both, .6 and .3 beat .2
		"F1":       {c.F1, 2 * 1.0 / (2*1 + 1 + 1)}, // of the first class, the rarer one
		"shares":   {c.SharesLogLoss, -.4*math.Log(.4) - .6*math.Log(.6)},
	} {
		if !near(v[0], v[1], 1e-6) {
			t.Errorf("%s is %v, want %v", what, v[0], v[1])
		}
	}
	if want := [][]int{{1, 1}, {1, 2}}; !slices.EqualFunc(c.Confusion, want, slices.Equal) {
		t.Errorf("confusion %v, want %v", c.Confusion, want)
	}
}

// The same samples at a threshold of .25 for the second class: .2 alone is the first class, whose certainty stays.
func TestThreshold(t *testing.T) {
	logits, labels := logs(.1, .9, .2, .8, .4, .6, .7, .3, .8, .2), []int32{1, 0, 1, 1, 0}
	plain, err := Classify(logits, labels, 2, 1, nil)
	for _, at := range []*Threshold{{1, .25}, {0, .75}} {
		c, failed := Classify(logits, labels, 2, 1, at)
		if err != nil || failed != nil || c.Accuracy != .8 || !near(c.F1, 2./3, 1e-12) || c.AUC != plain.AUC || c.LogLoss != plain.LogLoss || c.CalibrationError != plain.CalibrationError {
			t.Errorf("%v: %+v, %v; without it %+v, %v", at, c, failed, plain, err)
		}
		if want := []train.ClassCounts{{Samples: 2, Right: 1, Predicted: 1}, {Samples: 3, Right: 3, Predicted: 4}}; !slices.Equal(c.Counts, want) {
			t.Errorf("%v: counts %v, want %v", at, c.Counts, want)
		}
	}
	// The temperature is within the probability: at 2 the odds of .3 are the root of 3/7, .4 in all.
	if at := (&Threshold{1, .39}); at.Predicted(logs(.7, .3), 2) != 1 || at.Predicted(logs(.7, .3), 1) != 0 || at.Predicted([]float32{float32(math.NaN()), 1}, 1) != -1 || (&Threshold{1, .5}).Predicted([]float32{2, 2}, 1) != 1 {
		t.Error("a threshold of another temperature, or a class of NaN")
	}
}

// A model ranks if it has a lower log loss than the classes' shares, and an order that chance doesn't explain: of 2 and
// 8 samples the AUC has a standard deviation of √(11/192), about .24, so .98 is just beyond chance; of three classes
// with 9 each √(28/1944), .12.
func TestRanks(t *testing.T) {
	counts, three := []train.ClassCounts{{Samples: 8}, {Samples: 2}}, []train.ClassCounts{{Samples: 9}, {Samples: 9}, {Samples: 9}, {}}
	for _, c := range []struct {
		loss, auc float64
		counts    []train.ClassCounts
		want      bool
	}{
		{.4, .98, counts, true}, {.4, .97, counts, false}, {.5, .98, counts, false}, {math.NaN(), .98, counts, false},
		{.4, .75, three, true}, {.4, .73, three, false},
	} {
		if got := (Classification{Rarer: -1, LogLoss: c.loss, SharesLogLoss: .5, AUC: c.auc, Counts: c.counts}).Ranks(); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

// Four samples of four classes, by hand. The last class doesn't occur and isn't predicted; the third is predicted,
// wrongly.
func TestFourClassesByHand(t *testing.T) {
	logits := logs(.7, .1, .1, .1, .2, .5, .2, .1, .1, .2, .6, .1, .4, .3, .2, .1)
	c, err := Classify(logits, []int32{0, 1, 1, 0}, 4, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	// AUC: for class 0, .7 and .4 against .2 and .1: 1. For class 1, .5 and .2 against .1 and .3: 3 of 4. F1: 1, 2/3
	// and 0.
	if c.Accuracy != .75 || !near(c.SharesLogLoss, math.Ln2, 1e-12) || !near(c.AUC, (1+.75)/2, 1e-12) || !near(c.F1, (1+2.0/3+0)/3, 1e-12) {
		t.Errorf("%+v", c)
	}
	if want := [][]int{{2, 0, 0, 0}, {0, 1, 1, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}}; !slices.EqualFunc(c.Confusion, want, slices.Equal) {
		t.Errorf("confusion %v, want %v", c.Confusion, want)
	}
	// A temperature of 2 takes the root of the odds: .7, .1, .1, .1 become √7:1:1:1.
	cooler, err := Classify(logits[:4], []int32{0}, 4, 2, nil)
	if want := math.Log(1 + 3/math.Sqrt(7)); err != nil || !near(cooler.LogLoss, want, 1e-6) {
		t.Errorf("log loss %v, %v, want %v", cooler.LogLoss, err, want)
	}
}

// Undefined measures are NaN, and no others.
func TestUndefined(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, c := range map[string]struct {
		logits                 []float32
		labels                 []int32
		loss, auc, f1          bool // undefined
		accuracy               float64
		confused, notPredicted int
	}{
		"only the first class":  {[]float32{1, 0, 1, 0}, []int32{0, 0}, false, true, true, 1, 2, 0},
		"only the second class": {[]float32{1, 0, 1, 0}, []int32{1, 1}, false, true, false, 0, 2, 0},
		"a NaN":                 {[]float32{nan, 0, 0, 1}, []int32{0, 1}, true, true, false, 0.5, 1, 1},
		"an infinity":           {[]float32{0, inf, 1, 0}, []int32{1, 0}, true, true, false, 1, 2, 0},
	} {
		got, err := Classify(c.logits, c.labels, 2, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		confused := 0
		for _, row := range got.Confusion {
			confused += row[0] + row[1]
		}
		if math.IsNaN(got.LogLoss) != c.loss || math.IsNaN(got.CalibrationError) != c.loss || math.IsNaN(got.AUC) != c.auc || math.IsNaN(got.F1) != c.f1 || got.Rarer != 1 || got.Accuracy != c.accuracy || confused != c.confused {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if c, err := Classify(make([]float32, MaxConfusion+1), []int32{0}, MaxConfusion+1, 1, nil); err != nil || c.Confusion != nil {
		t.Errorf("%d classes have a matrix of confusion, %v", MaxConfusion+1, err)
	}
	for name, err := range map[string]error{
		"no samples":     second(Classify(nil, nil, 2, 1, nil)),
		"one class":      second(Classify([]float32{1}, []int32{0}, 1, 1, nil)),
		"too few logits": second(Classify([]float32{1}, []int32{0}, 2, 1, nil)),
		"a wrong label":  second(Classify([]float32{1, 2}, []int32{2}, 2, 1, nil)),
		"a negative one": second(Classify([]float32{1, 2}, []int32{-1}, 2, 1, nil)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// drawn are outputs and labels. Few different logits make many ties.
func drawn(t *rapid.T, atLeast int) (logits []float32, labels []int32, classes int) {
	classes = rapid.IntRange(2, 5).Draw(t, "classes")
	n := rapid.IntRange(atLeast, 30).Draw(t, "n")
	labels = rapid.SliceOfN(rapid.Int32Range(0, int32(classes-1)), n, n).Draw(t, "labels")
	// Probabilities of such logits are either equal or further apart than rounding.
	logit := rapid.Map(rapid.IntRange(-4096, 4096), func(i int) float32 { return float32(i) / 512 })
	if rapid.Bool().Draw(t, "ties") {
		logit = rapid.Map(rapid.IntRange(-2, 2), func(i int) float32 { return float32(i) })
	}
	return rapid.SliceOfN(logit, n*classes, n*classes).Draw(t, "logits"), labels, classes
}

// The measures equal their definitions: probabilities by the definition of softmax, pairs one by one.
func TestClassifyByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logits, labels, classes := drawn(t, 1)
		temperature := rapid.Float64Range(0.5, 4).Draw(t, "temperature")
		got, err := Classify(logits, labels, classes, temperature, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := len(labels)
		p := make([][]float64, n)
		loss := 0.0
		for i := range p {
			sum := 0.0
			for k := range classes {
				p[i] = append(p[i], math.Exp(float64(logits[i*classes+k])/temperature))
				sum += p[i][k]
			}
			for k := range p[i] {
				p[i][k] /= sum
			}
			loss -= math.Log(p[i][labels[i]])
		}
		if !near(got.LogLoss, loss/float64(n), 1e-9) {
			t.Fatalf("log loss %v, want %v", got.LogLoss, loss/float64(n))
		}
		var areas []float64
		for k := range classes {
			pairs, won := 0.0, 0.0
			for i := range n {
				for j := range n {
					if labels[i] != int32(k) || labels[j] == int32(k) {
						continue
					}
					pairs++
					switch d := p[i][k] - p[j][k]; {
					case math.Abs(d) <= 1e-11*p[i][k]:
						won += 0.5
					case d > 0:
						won++
					}
				}
			}
			if pairs > 0 && (classes > 2 || k == rarer(labels)) {
				areas = append(areas, won/pairs)
			}
		}
		want := 0.0
		for _, a := range areas {
			want += a / float64(len(areas))
		}
		switch {
		case len(areas) == 0 && !math.IsNaN(got.AUC):
			t.Fatalf("AUC %v of no pairs", got.AUC)
		case len(areas) > 0 && !near(got.AUC, want, 1e-9):
			t.Fatalf("AUC %v, want %v", got.AUC, want)
		}
		checkConfusion(t, got, labels)
	})
}

// rarer is the class of two by which AUC and F1 are defined.
func rarer(labels []int32) int {
	seconds := 0
	for _, label := range labels {
		seconds += int(label)
	}
	if 2*seconds > len(labels) && seconds < len(labels) {
		return 0
	}
	return 1
}

// Accuracy and F1 follow from the matrix, whose rows add up to the classes' samples.
func checkConfusion(t *rapid.T, got Classification, labels []int32) {
	right, f1, some := 0, 0.0, 0.0
	for k, row := range got.Confusion {
		occurs, said := 0, 0
		for j := range row {
			occurs += row[j]
			said += got.Confusion[j][k]
		}
		counted := 0
		for _, label := range labels {
			if int(label) == k {
				counted++
			}
		}
		if counted != occurs {
			t.Fatalf("row %d of %v has %d samples, want %d", k, got.Confusion, occurs, counted)
		}
		right += row[k]
		if occurs+said > 0 && (len(got.Confusion) > 2 || k == rarer(labels)) {
			precision, recall := float64(row[k])/float64(max(said, 1)), float64(row[k])/float64(max(occurs, 1))
			if precision+recall > 0 {
				f1 += 2 * precision * recall / (precision + recall)
			}
			some++
		}
	}
	if got.Accuracy != float64(right)/float64(len(labels)) {
		t.Fatalf("accuracy %v of %v", got.Accuracy, got.Confusion)
	}
	if some == 0 != math.IsNaN(got.F1) || some > 0 && !near(got.F1, f1/some, 1e-9) {
		t.Fatalf("F1 %v of %v, want %v", got.F1, got.Confusion, f1/some)
	}
}

// A perfectly calibrated set has no calibration error: of ten samples with .9, nine are right.
func TestCalibrationError(t *testing.T) {
	var logits []float32
	labels := make([]int32, 10)
	for range labels {
		logits = append(logits, logs(.9, .1)...)
	}
	labels[3] = 1
	if c, err := Classify(logits, labels, 2, 1, nil); err != nil || c.CalibrationError > 1e-6 {
		t.Errorf("%v, %v", c.CalibrationError, err)
	}
	if c, err := Classify(logits, make([]int32, 10), 2, 1, nil); err != nil || !near(c.CalibrationError, .1, 1e-6) {
		t.Errorf("%v, %v, want .1", c.CalibrationError, err)
	}
	// In one bin, .68 right and .72 wrong: the gap of their means is .2, not the mean of two gaps.
	if c, err := Classify(logs(.68, .32, .72, .28), []int32{0, 1}, 2, 1, nil); err != nil || !near(c.CalibrationError, .2, 1e-6) {
		t.Errorf("%v, %v, want .2", c.CalibrationError, err)
	}
}
