package experiment

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/internal/memory"
	"github.com/dptrain/dptrain/tuner"
)

// The memory of a run, as measured (bench/results/memory.md).
const (
	programBytes = 100e6 // without data and runs, with a buffer of rows that are read
	dataCopies   = 3.4   // of samples while they are loaded: read, kept, and garbage
	runCopies    = 10    // of each parameter, in single precision, for each run
	alone        = 6     // of each parameter once more: drawn, read back and written
	rowBytes     = 16    // of each training row besides its sample: its hash, and a step's draws
	memberBytes  = 60    // of each training row in a tuning: the lists of rows that runs train on
	textBytes    = 8     // of a text for each of its tokens: reviews that are cut to 256 have 5 to 8
	maxRunsHeld  = 64    // package tuner's maximum
)

// memoryOf estimates the maximum number of bytes that a run takes, from public numbers alone. It counts as many trials
// as one run in twenty exceeds: for a Poisson number the mean and two standard deviations, for a fixed number itself,
// for others four times the mean.
func memoryOf(e settings.Experiment, s Samples, tuned bool) (float64, error) {
	raw, m := 0.0, release.Model{}
	if s.Schema != nil {
		m.Shape, m.Outputs = s.Schema.Shape, s.Schema.Outputs()
		if m.Vocabulary = wordsOf(s.Schema); m.Vocabulary > 0 {
			raw = textBytes * float64(s.Train+s.Test) * volume(m.Shape)
		}
	} else {
		set, info, err := modelOfSet(e)
		if err != nil {
			return 0, err
		}
		m, raw = set, float64(s.Train+s.Test)*volume(info.SampleShape) // one byte for each pixel
	}
	model, err := modelOf(describeModel(e, m))
	if err != nil {
		return 0, err
	}
	parameters := 0.0
	for _, p := range model.Parameters {
		parameters += float64(p.Shape().TotalSize())
	}
	columns := volume(m.Shape) + float64(m.Outputs)
	if m.Vocabulary > 0 {
		columns += volume(m.Shape) // the weight of each token
	}
	runs, rows := runsHeld(e, tuned), rowBytes*float64(s.Train)
	if tuned {
		rows = memberBytes * float64(s.Train)
	}
	played := float64(s.Train)
	if tuned && methods[e.Privacy.Variant] != tuner.Baseline {
		played *= e.Privacy.SubsetRate
	}
	each := 4 * (runCopies*parameters + played + float64(s.Test)*float64(m.Outputs))
	data := raw + dataCopies*4*float64(s.Train+s.Test)*columns + rows
	return programBytes + data + 4*alone*parameters + runs*each, nil
}

// runsHeld returns the number of runs that train side by side in all but one of twenty plans.
func runsHeld(e settings.Experiment, tuned bool) float64 {
	if !tuned {
		return 1
	}
	mean := e.Privacy.MeanRepetitions
	runs := 4 * mean
	switch e.Privacy.Repetitions {
	case "poisson", "truncated-poisson":
		runs = mean + 2*math.Sqrt(mean)
	case settings.Binomial:
		n := float64(e.Privacy.BinomialTrials())
		runs = math.Min(n, mean+2*math.Sqrt(mean*(1-mean/n)))
	case settings.Fixed:
		runs = mean
	}
	return math.Min(maxRunsHeld, math.Ceil(runs))
}

func volume(shape []int) float64 {
	v := 1.0
	for _, d := range shape {
		v *= float64(d)
	}
	return v
}

// memoryText prints a number of bytes with two digits.
func memoryText(bytes float64) string {
	unit, name := 1e6, "MB"
	if bytes >= 995e6 {
		unit, name = 1e9, "GB"
	}
	rounding := math.Pow(10, math.Floor(math.Log10(bytes/unit))-1) // two digits
	return fmt.Sprintf("%.4g %s", math.Round(bytes/unit/rounding)*rounding, name)
}

// available is memory.Available, which tests replace.
var available = memory.Available

// freeMemory returns the number of bytes that are free, or +Inf if the system doesn't say.
func freeMemory() float64 {
	if free, ok := available(); ok {
		return float64(free)
	}
	return math.Inf(1)
}

// Fits returns an error if a settled plan, whose data aren't loaded, probably needs more memory than is free now.
func (p *Plan) Fits() error {
	if free := freeMemory(); p.Memory > free {
		return inputf("%s: the run takes up to about %s of memory, and %s are free here", p.DataName(), memoryText(p.Memory), memoryText(free))
	}
	return nil
}

// memoryWarning returns a warning if a run probably takes more memory than is free, and otherwise "".
func memoryWarning(bytes, free float64) string {
	if bytes > free {
		return fmt.Sprintf("the run takes up to about %s of memory, and %s are free: it may be killed; take fewer trials (--mu), a smaller model, or another machine",
			memoryText(bytes), memoryText(free))
	}
	return ""
}
