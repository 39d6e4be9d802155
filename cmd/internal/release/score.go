package release

import (
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/train"
)

// Score is the released model's score on the public test set, or an estimate of it from held-out samples. Without a
// metric there is none.
type Score struct {
	Metric  train.Metric
	Value   float64
	HeldOut *[2]float64 // 95 % confidence interval of an estimate
}

// ScoreOf returns the score of a metric, by its name.
func ScoreOf(metric string, value float64) Score {
	return Score{Metric: train.Metric(metric), Value: value}
}

// AUC is the area under the ROC curve: see scores.Classification.
const AUC train.Metric = "AUC"

// Metrics returns the metrics of released scores.
func Metrics() []train.Metric {
	return []train.Metric{train.Accuracy, train.R2, train.NegativeLogLoss, AUC}
}

// Key returns the name of the score in files.
func (s Score) Key() string {
	key := "test_"
	if s.HeldOut != nil {
		key = "held_out_"
	}
	if s.Metric == train.R2 {
		return key + "r2"
	}
	return key + strings.ReplaceAll(strings.ToLower(string(s.Metric)), " ", "_")
}

// String returns the value, accuracy in per cent.
func (s Score) String() string {
	switch s.Metric {
	case "":
		return "none"
	case train.Accuracy:
		return fmt.Sprintf("%.2f %%", 100*s.Value)
	}
	if s.Value < -1e4 { // a regression that diverged
		return fmt.Sprintf("%.4g", s.Value)
	}
	return fmt.Sprintf("%.4f", s.Value)
}
