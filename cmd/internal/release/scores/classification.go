package scores

import (
	"cmp"
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/float"
	"github.com/dptrain/dptrain/train"
)

// Classification measures outputs of a classification. NaN means undefined.
type Classification struct {
	Accuracy float64
	// LogLoss is the mean of -ln p over samples, where p is the probability of the sample's class.
	LogLoss float64
	// SharesLogLoss is the log loss of one answer for every sample: the classes' shares of these samples.
	SharesLogLoss float64
	// CalibrationError is the expected calibration error: the samples are put into [Bins] bins of equal width by the
	// probability of their predicted class, and the gaps between a bin's accuracy and its mean probability are averaged
	// with the bins' numbers of samples as weights (Guo et al., 2017). The bins are (0, 1/15], (1/15, 2/15], …
	CalibrationError float64
	// Rarer is the class of two with fewer samples, or the second if they have equally many or the first has none; -1
	// for more classes.
	Rarer int
	// AUC is the area under the ROC curve, exact, with ties counted half: of the rarer class if there are two, else
	// the mean over each class against the rest. Classes of all samples, or of none, have no curve and are left out.
	AUC float64
	// F1 is 2 TP/(2 TP + FP + FN): of the rarer class if there are two, else the mean over classes. It leaves out
	// classes that neither occur nor are predicted.
	F1     float64
	Counts []train.ClassCounts // of each class
	// Confusion[i][j] is the number of samples of class i that are predicted as class j. It is nil for more than
	// [MaxConfusion] classes.
	Confusion [][]int
}

// Bins is the number of bins of the calibration error.
const Bins = 15

// MaxConfusion bounds the classes of a confusion matrix, which grows with their square.
const MaxConfusion = 1000

// Threshold predicts a class of two where its probability is at least P, and elsewhere the other.
type Threshold struct {
	Class int
	P     float64
}

// Predicted returns the class that a sample's logits predict at a temperature: without a threshold, which is nil, that
// of the first of the largest. It is -1 if one is NaN.
func (t *Threshold) Predicted(logits []float32, temperature float64) int {
	largest := train.Predicted(logits)
	switch {
	case t == nil || largest < 0:
		return largest
	case float.Softmax(logits, temperature)[t.Class] >= t.P:
		return t.Class
	}
	return 1 - t.Class
}

// Classify measures the outputs of a model at a temperature above 0. logits has a row of classes values for each
// label. [Threshold.Predicted] is a sample's predicted class, and no class is wrong. A logit that isn't finite leaves
// log loss, calibration error and AUC undefined. The calibration error is of the most probable class, whatever t is.
func Classify(logits []float32, labels []int32, classes int, temperature float64, t *Threshold) (Classification, error) {
	if err := check(logits, labels, classes); err != nil {
		return Classification{}, err
	}
	n := len(labels)
	predicted := make([]int, n)
	odds := make([][]float64, classes) // by class, of each sample
	for k := range odds {
		odds[k] = make([]float64, n)
	}
	c := Classification{Rarer: -1, Counts: make([]train.ClassCounts, classes)}
	for _, label := range labels {
		c.Counts[label].Samples++
	}
	for _, count := range c.Counts {
		if share := float64(count.Samples) / float64(n); share > 0 {
			c.SharesLogLoss -= share * math.Log(share)
		}
	}
	if classes == 2 {
		c.Rarer = 1
		if n := c.Counts[0].Samples; n > 0 && n < c.Counts[1].Samples {
			c.Rarer = 0
		}
	}
	var bins [Bins]struct{ right, sure, size float64 }
	right := 0
	z := make([]float64, classes)
	finite := true
	for i, label := range labels {
		row := logits[i*classes : (i+1)*classes]
		largest := train.Predicted(row)
		predicted[i] = t.Predicted(row, temperature)
		if predicted[i] == int(label) {
			right++
			c.Counts[label].Right++
		}
		if predicted[i] >= 0 {
			c.Counts[predicted[i]].Predicted++
		}
		for _, v := range row {
			finite = finite && v-v == 0
		}
		if !finite {
			continue
		}
		most := float64(row[largest])
		for k, v := range row {
			z[k] = (float64(v) - most) / temperature
		}
		logOdds(z)
		for k, log := range z {
			odds[k][i] = log
		}
		c.LogLoss += softplus(-z[label]) / float64(n)
		sure := 1 / (1 + math.Exp(-z[largest]))
		b := &bins[min(max(int(math.Ceil(sure*Bins))-1, 0), Bins-1)]
		b.size++
		b.sure += sure
		if largest == int(label) {
			b.right++
		}
	}
	c.Accuracy = float64(right) / float64(n)
	for _, b := range bins {
		c.CalibrationError += math.Abs(b.right-b.sure) / float64(n)
	}
	c.AUC = c.ofClasses(func(k int) float64 { return area(odds[k], labels, int32(k)) })
	if !finite {
		c.LogLoss, c.CalibrationError, c.AUC = math.NaN(), math.NaN(), math.NaN()
	}
	c.F1 = c.ofClasses(func(k int) float64 {
		of := c.Counts[k]
		return float64(2*of.Right) / float64(of.Samples+of.Predicted)
	})
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

// Ranks reports whether the probabilities tell more than the classes' shares do: their log loss is below that of the
// shares, and they are in [Classification.Order].
func (c Classification) Ranks() bool { return c.LogLoss < c.SharesLogLoss && c.Order() }

// Order reports whether the AUC is more than two standard deviations above that of a random order. For the mean over
// several classes it takes the mean of their standard deviations, which isn't less than that of the mean.
func (c Classification) Order() bool {
	n := 0.0
	for _, of := range c.Counts {
		n += float64(of.Samples)
	}
	return c.AUC > 0.5+2*c.ofClasses(func(k int) float64 {
		a := float64(c.Counts[k].Samples)
		if a == 0 || a == n {
			return math.NaN()
		}
		return math.Sqrt((n + 1) / (12 * a * (n - a)))
	})
}

// ofClasses returns a measure of the rarer class of two, or else its mean over the classes for which it is defined.
func (c Classification) ofClasses(measure func(class int) float64) float64 {
	if c.Rarer >= 0 {
		return measure(c.Rarer)
	}
	sum, defined := 0.0, 0.0
	for k := range c.Counts {
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
