package paper

import (
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/reproduce/campaign"
)

// Table is a table of texts, for the page, and of numbers, for a CSV file.
type Table struct {
	Name    string // of the file
	Source  string // label of the paper's table; empty for one of ours
	Title   string
	Columns []string
	Rows    [][]string // each as long as Columns
	Notes   []string   // sentences below the table
	Numbers [][]string // all digits, below a row of column names
}

// RightAligned reports for each column whether all its cells are numbers, which are set to the right.
func (t Table) RightAligned() []bool {
	right := make([]bool, len(t.Columns))
	for j := range t.Columns {
		for _, row := range t.Rows {
			number := row[j] == "" || strings.ContainsRune("0123456789−+", []rune(row[j])[0]) && strings.Count(row[j], " ") <= 2
			if right[j] = number && (right[j] || row[j] != ""); !number {
				break
			}
		}
	}
	return right
}

// Tables returns the paper's two tables of hyperparameters, made from the presets, for some data sets.
func Tables(datasets []string) ([]Table, error) {
	fixed, err := fixedTable(datasets)
	if err != nil {
		return nil, err
	}
	grids, err := gridTable(datasets)
	return []Table{fixed, grids}, err
}

// fixedTable is the paper's tab:lr_exp_param.
func fixedTable(datasets []string) (Table, error) {
	t := Table{Name: "lr_exp_param", Source: "tab:lr_exp_param"}
	t.Title = "Tuning the learning rate: what is fixed"
	t.Columns = []string{""}
	rows := [][]string{{"sampling rate γ"}, {"epochs"}}
	t.Numbers = [][]string{{"dataset", "sampling_rate", "epochs"}}
	for _, dataset := range datasets {
		w, err := workloadOf(dataset, tuning{"dp-sgd", campaign.Rate})
		if err != nil {
			return t, err
		}
		t.Columns = append(t.Columns, DatasetName(dataset))
		rows[0] = append(rows[0], number(w.Privacy.SamplingRate))
		rows[1] = append(rows[1], number(w.Privacy.Epochs))
		t.Numbers = append(t.Numbers, []string{dataset, number(w.Privacy.SamplingRate), number(w.Privacy.Epochs)})
	}
	t.Rows = rows
	t.Notes = []string{"γ is the expected batch over the size of the tuning set, and the same in the final run. Learning rates are those of the grids."}
	return t, nil
}

// gridTable is the paper's tab:data_sets.
func gridTable(datasets []string) (Table, error) {
	t := Table{Name: "data_sets", Source: "tab:data_sets"}
	t.Title = "Tuning learning rate, batch size and epochs: data sets and grids"
	t.Columns = []string{"", "train/test", "parameters", "C", "B", "learning rate η", "epochs"}
	t.Numbers = [][]string{{"dataset", "train", "test", "parameters", "clipping_norm", "batch_sizes", "learning_rates", "epochs"}}
	for _, dataset := range datasets {
		w, err := workloadOf(dataset, tuning{"dp-sgd", campaign.All})
		if err != nil {
			return t, err
		}
		parameters, err := w.parameters()
		if err != nil {
			return t, err
		}
		var batches []float64
		for _, b := range w.Tuning.BatchSizes {
			batches = append(batches, float64(b))
		}
		t.Rows = append(t.Rows, []string{
			DatasetName(dataset), release.Grouped(w.info.Train) + "/" + release.Grouped(w.info.Test), release.Grouped(parameters), number(w.Privacy.ClippingNorm),
			list(batches, ", "), powers(w.Tuning.LearningRates), list(w.Tuning.Epochs, ", "),
		})
		t.Numbers = append(t.Numbers, []string{
			dataset, strconv.Itoa(w.info.Train), strconv.Itoa(w.info.Test), strconv.Itoa(parameters), number(w.Privacy.ClippingNorm),
			list(batches, " "), list(w.Tuning.LearningRates, " "), list(w.Tuning.Epochs, " "),
		})
	}
	t.Notes = []string{"B is the expected batch in the tuning set; γ = B/(qn) to three digits. The noise multiplier is the smallest for each γ and number of epochs."}
	return t, nil
}
