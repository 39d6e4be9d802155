package campaign

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/settings"
)

// Method is a way to get a model, as the paper's figures compare them.
type Method string

// The methods. Single is one training with the hyperparameters that the baseline found, at the noise of the baseline:
// its epsilon is what that training alone costs.
const (
	Variant1 Method = "v1"
	Variant2 Method = "v2"
	Baseline Method = "baseline"
	Single   Method = "single"
)

// Methods returns all methods, in the order of the figures. A single run comes after its baseline.
func Methods() []Method { return []Method{Variant1, Variant2, Baseline, Single} }

// String returns the method's name in figures.
func (m Method) String() string {
	switch m {
	case Variant1:
		return "variant 1"
	case Variant2:
		return "variant 2"
	case Single:
		return "single run"
	}
	return string(m)
}

// Space names the hyperparameters that are tuned.
type Space string

// The spaces: the learning rate alone, with mu = 15; or learning rate, batch size and epochs, with mu = 45.
const (
	Rate Space = "rate"
	All  Space = "all"
)

// Cell is a point of a figure.
type Cell struct {
	Dataset    string // as in package settings: mnist, fashion-mnist, cifar-10 or imdb
	Optimizer  string // dp-sgd or dp-adam
	Space      Space
	Method     Method
	Accounting string  // paper, tight or best
	Epsilon    float64 // of the tuning that the cell's point belongs to; a single run alone costs less
}

// Preset returns the name of the cell's settings, but for method, accounting and epsilon.
func (c Cell) Preset() string {
	name := c.Dataset
	if c.Optimizer == "dp-adam" {
		name += "-adam"
	}
	if c.Space == All {
		name += "-all"
	}
	return name
}

// String returns the beginning of the names of the cell's runs.
func (c Cell) String() string {
	return fmt.Sprintf("%s_%s_%s_eps%s", c.Preset(), string(c.Method), c.Accounting, strconv.FormatFloat(c.Epsilon, 'g', -1, 64))
}

// Of returns the same cell of another method.
func (c Cell) Of(m Method) Cell {
	c.Method = m
	return c
}

// Job is one repetition of a cell.
type Job struct {
	Cell
	Repetition int // from 1
}

// Name returns the name of the job's run.
func (j Job) Name() string { return fmt.Sprintf("%s_%02d", j.Cell, j.Repetition) }

// Of returns the same repetition of another method.
func (j Job) Of(m Method) Job { return Job{j.Cell.Of(m), j.Repetition} }

// ParseJob returns the job of a run's name, and false for a name of another kind.
func ParseJob(name string) (Job, bool) {
	parts := strings.Split(name, "_")
	if len(parts) != 5 {
		return Job{}, false
	}
	j := Job{Cell: Cell{Optimizer: "dp-sgd", Space: Rate, Method: Method(parts[1]), Accounting: parts[2]}}
	var ok bool
	j.Dataset = parts[0]
	if j.Dataset, ok = strings.CutSuffix(j.Dataset, "-all"); ok {
		j.Space = All
	}
	if j.Dataset, ok = strings.CutSuffix(j.Dataset, "-adam"); ok {
		j.Optimizer = "dp-adam"
	}
	var errEpsilon, errRepetition error
	j.Epsilon, errEpsilon = strconv.ParseFloat(strings.TrimPrefix(parts[3], "eps"), 64)
	j.Repetition, errRepetition = strconv.Atoi(parts[4])
	known := variants[j.Method] != "" && slices.Contains(settings.Datasets(), j.Dataset)
	return j, known && j.Epsilon > 0 && errEpsilon == nil && errRepetition == nil && j.Repetition > 0 && j.Name() == name
}
