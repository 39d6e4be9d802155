package paper

import (
	"github.com/dptrain/dptrain/cmd/internal/reproduce/campaign"
)

// Figure is a figure of the paper.
type Figure struct {
	Label    string // as in the paper's source
	Title    string
	Caption  string
	Detailed bool // with columns for noise, rate and, if it is tuned, sampling rate

	// The tuning, on each data set. A figure of bounds trains nothing and has no optimizer.
	Optimizer string
	Space     campaign.Space
}

// Trains reports whether a figure needs runs.
func (f Figure) Trains() bool { return f.Optimizer != "" }

// Bounds reports whether a figure shows bounds, which take a minute to compute: see [Input].
func (f Figure) Bounds() bool { return f.Label == "compare_dp_bounds" }

// Selection says which cells a figure shows, and how often each is repeated.
type Selection struct {
	Datasets    []string
	Epsilons    []float64
	Accountings []string
	Repetitions int
}

// Datasets returns the paper's data sets, in the order of its figures.
func Datasets() []string { return []string{"mnist", "fashion-mnist", "cifar-10", "imdb"} }

// PaperSelection returns the selection of the paper's figures.
func PaperSelection() Selection {
	return Selection{Datasets: Datasets(), Epsilons: []float64{1, 2, 3, 4}, Accountings: []string{"paper"}, Repetitions: 10}
}

// Jobs returns the jobs whose runs the figure needs, repetition after repetition, so that a campaign which is cut
// off has whole repetitions.
func (f Figure) Jobs(s Selection) []campaign.Job {
	if !f.Trains() {
		return nil
	}
	var jobs []campaign.Job
	for r := range s.Repetitions {
		for _, dataset := range s.Datasets {
			for _, m := range campaign.Methods() {
				for _, accounting := range s.Accountings {
					for _, epsilon := range s.Epsilons {
						cell := campaign.Cell{Dataset: dataset, Optimizer: f.Optimizer, Space: f.Space, Method: m, Accounting: accounting, Epsilon: epsilon}
						jobs = append(jobs, campaign.Job{Cell: cell, Repetition: r + 1})
					}
				}
			}
		}
	}
	return jobs
}

// notes end the caption of each figure that needs runs.
const notes = " A single run trains once with the hyperparameters and the noise that the baseline found, and is drawn at its own epsilon, without the cost of tuning. Other methods at one epsilon are drawn slightly apart, so that their marks don't hide each other. A bar that reaches 0 on a logarithmic axis is left out."

// Figures returns the paper's figures.
func Figures() []Figure {
	return []Figure{
		{
			Label: "compare_dp_bounds", Title: "What tuning costs by subset rate",
			Caption: "Epsilon of tuning and training together over the subset rate q, for both variants, the baseline and one training run alone: 50 epochs at sampling rate 0.01 and noise multiplier 2.",
		},
		{
			Label: "mnist_novel_x", Title: "RDP curves and the lines above them",
			Caption: "RDP curves of DP-SGD and, for each, the smallest line c·alpha above it up to a given order, which random search fits its candidates below.",
		},
		{
			Label: "figure_tune_lr_dp_sgd", Title: "Tuning the learning rate with DP-SGD",
			Caption:   "Test accuracy over the epsilon of tuning and final training together; mean of the repetitions and its 95 % interval, with a dot for each run, and a dash for the median where it parts from the mean." + notes,
			Optimizer: "dp-sgd", Space: campaign.Rate,
		},
		{
			Label: "figure_tune_lr_dp_adam", Title: "Tuning the learning rate with DP-Adam",
			Caption:   "Test accuracy over the epsilon of tuning and final training together; mean of the repetitions and its 95 % interval, with a dot for each run, and a dash for the median where it parts from the mean. DP-Adam's rate isn't scaled." + notes,
			Optimizer: "dp-adam", Space: campaign.Rate,
		},
		{
			Label: "figure_tune_all", Title: "Tuning learning rate, sampling rate and epochs with DP-SGD",
			Caption:   "Test accuracy over the epsilon of tuning and final training together; mean of the repetitions and its 95 % interval, with a dot for each run, and a dash for the median where it parts from the mean." + notes,
			Optimizer: "dp-sgd", Space: campaign.All,
		},
		{
			Label: "figure_tune_lr_detailed_dp_sgd", Title: "Tuning the learning rate with DP-SGD, in detail",
			Caption:  "A row for each data set: test accuracy, noise multiplier and learning rate of the released model over epsilon; mean of the repetitions and its 95 % interval, with a dot for each run, and a dash for the median where it parts from the mean." + notes,
			Detailed: true, Optimizer: "dp-sgd", Space: campaign.Rate,
		},
		{
			Label: "figure_tune_lr_detailed_dp_adam", Title: "Tuning the learning rate with DP-Adam, in detail",
			Caption:  "A row for each data set: test accuracy, noise multiplier and learning rate of the released model over epsilon; mean of the repetitions and its 95 % interval, with a dot for each run, and a dash for the median where it parts from the mean." + notes,
			Detailed: true, Optimizer: "dp-adam", Space: campaign.Rate,
		},
		{
			Label: "figure_tune_all_detailed_dp_sgd", Title: "Tuning all hyperparameters with DP-SGD, in detail",
			Caption:  "A row for each data set: test accuracy, noise multiplier, learning rate and sampling rate of the released model over epsilon; mean of the repetitions and its 95 % interval, with a dot for each run, and a dash for the median where it parts from the mean." + notes,
			Detailed: true, Optimizer: "dp-sgd", Space: campaign.All,
		},
		{
			Label: "figure_tune_all_detailed_dp_adam", Title: "Tuning all hyperparameters with DP-Adam, in detail",
			Caption:  "A row for each data set: test accuracy, noise multiplier, learning rate and sampling rate of the released model over epsilon; mean of the repetitions and its 95 % interval, with a dot for each run, and a dash for the median where it parts from the mean. The paper shows three data sets and doesn't name them in its source." + notes,
			Detailed: true, Optimizer: "dp-adam", Space: campaign.All,
		},
	}
}
