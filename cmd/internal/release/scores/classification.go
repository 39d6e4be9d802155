package scores

import (
	"cmp"
	"math"
	"slices"

	"github.com/dptrain/dptrain/train"
)

// Classification measures outputs of a classification. NaN means undefined.
type Classification struct {
	Accuracy float64
	// LogLoss is the mean of -ln p over samples, where p is the probability of the sample's class.
	LogLoss float64
	// CalibrationError is the expected calibration error: the samples are put into [Bins] bins of equal width by the
	// probability of their predicted class, and the gaps between a bin's accuracy and its mean probability are averaged
	// with the bins' numbers of samples as weights (Guo et al., 2017). The bins are (0, 1/15], (1/15, 2/15], …
	CalibrationError float64
	// AUC is the area under the ROC curve, exact, with ties counted half: of the second class if there are two, else
	// the mean over each class against the rest. Classes of all samples, or of none, have no curve and are left out.
	AUC float64
	// F1 is 2 TP/(2 TP + FP + FN): of the second class if there are two, else the mean over classes. It leaves out
	// classes that neither occur nor are predicted.
	F1 float64
	// Confusion[i][j] is the number of samples of class i that are predicted as class j. It is nil for more than
	// [MaxConfusion] classes.
	Confusion [][]int
}

// Bins is the number of bins of the calibration error.
const Bins = 15

// MaxConfusion bounds the classes of a confusion matrix, which grows with their square.
const MaxConfusion = 1000

// Classify measures the outputs of a model at a temperature above 0. logits has a row of classes values for each
// label. The first of a sample's largest logits is its predicted class. A sample with a NaN among its logits is
// predicted as no class, which is wrong. A logit that isn't finite leaves log loss, calibration error and AUC
// undefined.
func Classify(logits []float32, labels []int32, classes int, temperature float64) (Classification, error) {
	if err := check(logits, labels, classes); err != nil {
		return Classification{}, err
	}
	n := len(labels)
	predicted := make([]int, n)
	odds := make([][]float64, classes) // by class, of each sample
	for k := range odds {
		odds[k] = make([]float64, n)
	}
	var c Classification
	var bins [Bins]struct{ right, sure, size float64 }
	right := 0
	z := make([]float64, classes)
	finite := true
	for i, label := range labels {
		row := logits[i*classes : (i+1)*classes]
		predicted[i] = train.Predicted(row)
		if predicted[i] == int(label) {
			right++
		}
		for _, v := range row {
			finite = finite && v-v == 0
		}
		if !finite {
			continue
		}
		most := float64(row[predicted[i]])
		for k, v := range row {
			z[k] = (float64(v) - most) / temperature
		}
		logOdds(z)
		for k, log := range z {
			odds[k][i] = log
		}
		c.LogLoss += softplus(-z[label]) / float64(n)
		sure := 1 / (1 + math.Exp(-z[predicted[i]]))
		b := &bins[min(max(int(math.Ceil(sure*Bins))-1, 0), Bins-1)]
		b.size++
		b.sure += sure
		if predicted[i] == int(label) {
			b.right++
		}
	}
	c.Accuracy = float64(right) / float64(n)
	for _, b := range bins {
		c.CalibrationError += math.Abs(b.right-b.sure) / float64(n)
	}
	c.AUC = ofClasses(classes, func(k int) float64 { return area(odds[k], labels, int32(k)) })
	if !finite {
		c.LogLoss, c.CalibrationError, c.AUC = math.NaN(), math.NaN(), math.NaN()
	}
	c.F1 = f1(predicted, labels, classes)
	if classes <= MaxConfusion {
		c.Confusion = make([][]int, classes)
		for k := range c.Confusion {
			c.Confusion[k] = make([]int, classes)
		}
		for i, label := range labels {
			if predicted[i] >= 0 {
				c.Confusion[label][predicted[i]]++
			}
		}
	}
	return c, nil
}

// ofClasses returns a measure of the second class of two, or else its mean over the classes for which it is defined.
func ofClasses(classes int, measure func(class int) float64) float64 {
	if classes == 2 {
		return measure(1)
	}
	sum, defined := 0.0, 0.0
	for k := range classes {
		if v := measure(k); !math.IsNaN(v) {
			sum += v
			defined++
		}
	}
	return sum / defined // NaN for none
}

// logOdds writes ln(p/(1-p)) into z for the softmax p of z, whose largest value is 0: unlike p, it distinguishes
// probabilities near 1. Samples with the same values in another order have the same odds in that order, to the last
// bit.
func logOdds(z []float64) {
	if len(z) == 2 {
		z[0], z[1] = z[0]-z[1], z[1]-z[0] // in exact order
		return
	}
	ascending := make([]float64, len(z))
	for k, v := range z {
		ascending[k] = math.Exp(v)
	}
	slices.Sort(ascending)
	others := 0.0 // than the first largest
	for _, e := range ascending[:len(ascending)-1] {
		others += e
	}
	for k, v := range z {
		if v == 0 {
			z[k] = -math.Log(others)
		} else {
			z[k] = v - math.Log(others+1-math.Exp(v)) // loses no digits: the largest, 1, stays
		}
	}
}

// softplus returns ln(1 + e^x).
func softplus(x float64) float64 {
	if x > 0 {
		return x + math.Log1p(math.Exp(-x))
	}
	return math.Log1p(math.Exp(x))
}

// area returns the share of pairs, of a sample of the class and a sample of another class, in which the former has the
// higher score, with ties counted half; NaN if there is no pair.
func area(scores []float64, labels []int32, class int32) float64 {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
	// Twice the number of pairs, a whole number: exact up to 2^53.
	var twice, below, positives int
	for from := 0; from < len(order); {
		to, inside := from, 0
		for ; to < len(order) && scores[order[to]] == scores[order[from]]; to++ {
			if labels[order[to]] == class {
				inside++
			}
		}
		others := to - from - inside
		twice += inside * (2*below + others)
		below += others
		positives += inside
		from = to
	}
	if positives == 0 || below == 0 {
		return math.NaN()
	}
	return float64(twice) / 2 / (float64(positives) * float64(below))
}

// f1 returns [Classification.F1].
func f1(predicted []int, labels []int32, classes int) float64 {
	right, occurs, said := make([]int, classes), make([]int, classes), make([]int, classes)
	for i, label := range labels {
		occurs[label]++
		if p := predicted[i]; p >= 0 {
			said[p]++
			if p == int(label) {
				right[p]++
			}
		}
	}
	return ofClasses(classes, func(k int) float64 { return float64(2*right[k]) / float64(occurs[k]+said[k]) })
}
