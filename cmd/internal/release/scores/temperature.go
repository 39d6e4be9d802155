package scores

import (
	"fmt"
	"math"
	"strconv"
)

// The bounds of a temperature. Beyond them probabilities are almost certain, or almost equal.
const (
	minTemperature = 1.0 / 20
	maxTemperature = 1000
)

// Temperature returns the T above 0 for which softmax(logits/T) has the smallest log loss on labelled samples (Guo et
// al., "On Calibration of Modern Neural Networks", 2017), between 1/20 and 1000, rounded to four digits. logits has a
// row of classes values for each label. ok is false if no T is better than another, or if a logit isn't finite: then
// the temperature is 1.
//
// A few samples that the model separates perfectly would make every probability certain. So the loss smooths the
// labels: a label is right with probability (n+1)/(n+2), by Laplace's rule of succession after n right ones, and
// otherwise each other class is equally likely. This weighs about one sample in all: it limits the certainty that n
// samples can show, and vanishes as n grows.
func Temperature(logits []float32, labels []int32, classes int) (t float64, ok bool, err error) {
	if err := check(logits, labels, classes); err != nil {
		return 1, false, err
	}
	for _, v := range logits {
		if v-v != 0 { // infinite, or NaN
			return 1, false, nil
		}
	}
	// The loss is convex in 1/T: its slope grows, and has one zero or one interval of zeros.
	slope := func(logT float64) float64 { return slopeOfLoss(logits, labels, classes, math.Exp(-logT)) }
	low, high := math.Log(minTemperature), math.Log(maxTemperature)
	switch atLow, atHigh := slope(low), slope(high); {
	case atLow <= 0 && atHigh >= 0:
		return 1, false, nil // all logits of a sample are equal
	case atLow <= 0:
		return minTemperature, true, nil
	case atHigh >= 0:
		return maxTemperature, true, nil
	}
	for range 50 { // 10 halved so often is below the precision of a float64
		if middle := low + (high-low)/2; slope(middle) > 0 {
			low = middle
		} else {
			high = middle
		}
	}
	// Processors round the last digits of exp differently; four digits are more than any sample determines.
	t, err = strconv.ParseFloat(strconv.FormatFloat(math.Exp(low), 'g', 4, 64), 64)
	return t, true, err
}

// slopeOfLoss returns the derivative of the smoothed log loss by inverse = 1/T: the sum over samples of the mean logit
// under the model's probabilities minus that under the targets.
func slopeOfLoss(logits []float32, labels []int32, classes int, inverse float64) float64 {
	n := float64(len(labels))
	right, other := (n+1)/(n+2), 1/(n+2)/float64(classes-1)
	sum := 0.0
	for i, label := range labels {
		row := logits[i*classes : (i+1)*classes]
		largest := float64(row[0])
		for _, v := range row[1:] {
			largest = max(largest, float64(v))
		}
		var total, mean, target float64
		for k, v := range row {
			z := float64(v) - largest // equal logits are exactly 0, for any value
			p := math.Exp(z * inverse)
			total += p
			mean += p * z
			if k == int(label) {
				target += right * z
			} else {
				target += other * z
			}
		}
		sum += mean/total - target
	}
	return sum
}

// check returns an error unless there are outputs and a class for each label.
func check(logits []float32, labels []int32, classes int) error {
	if classes < 2 || len(labels) == 0 || len(logits) != len(labels)*classes {
		return fmt.Errorf("measure outputs: %d of them for %d samples of %d classes; want one for each class of each sample, and two classes at least", len(logits), len(labels), classes)
	}
	for i, label := range labels {
		if label < 0 || int(label) >= classes {
			return fmt.Errorf("measure outputs: label %d of sample %d, want 0 to %d", label, i, classes-1)
		}
	}
	return nil
}
