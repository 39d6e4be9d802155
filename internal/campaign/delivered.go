package campaign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/build"
	"github.com/dptrain/dptrain/internal/remote"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/internal/runs"
	"github.com/dptrain/dptrain/internal/safetensors"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// The released files that say what the others do.
const (
	parametersFile      = "model.safetensors"
	modelFile           = "model.json"
	hyperparametersFile = "hyperparameters.json"
	privacyFile         = "privacy.json"
)

// check returns an error unless a delivery can be what a run came to: its files are those of a release with the plan's
// guarantee, byte for byte.
func check(b begun, d remote.Delivery) error {
	if err := d.Check(); err != nil {
		return err
	}
	if d.Failure != "" {
		return nil
	}
	r, err := releaseIn(d)
	if err != nil {
		return err
	}
	e := b.plan.Experiment
	a := e.Activation
	switch m := r.Model; {
	case m.Dataset != e.Dataset || m.Network != e.Model || m.Activation != report.Activation(a):
		return fmt.Errorf("%s: it is of model %.40q for data set %.40q", modelFile, m.Network, m.Dataset)
	case r.Hyperparameters.Optimizer != e.Training.Optimizer:
		return fmt.Errorf("%s: it is of optimizer %.40q", hyperparametersFile, r.Hyperparameters.Optimizer)
	case d.Score.Metric != train.Accuracy || !(d.Score.Value >= 0 && d.Score.Value <= 1):
		return fmt.Errorf("a score of %.40q %v", d.Score.Metric, d.Score.Value)
	case b.task.Method == Single && d.LearningRate != e.Training.LearningRate:
		return fmt.Errorf("a learning rate of %v, and the run's is %v", d.LearningRate, e.Training.LearningRate)
	case d.LearningRate != r.Hyperparameters.LearningRate || !equalRates(d.TunedLearningRate, r.Hyperparameters.TunedLearningRate):
		return fmt.Errorf("%s: it has other learning rates than the delivery", hyperparametersFile)
	}
	if err := checkPrivacy(b.plan.Statement(), r.Privacy, r.Hyperparameters); err != nil {
		return err
	}
	rebuilt, err := remote.Pack(r)
	if err != nil {
		return err
	}
	if !maps.EqualFunc(rebuilt, d.Released, bytes.Equal) {
		return fmt.Errorf("its released files don't belong together: of these values a run writes %.300q with other bytes", strings.Join(differing(rebuilt, d.Released), " "))
	}
	_, err = resultOf(b.task, e, runs.Info{Manifest: b.folder.Manifest, Record: &b.folder.Record}, scoreOf(d).Value, r.Hyperparameters, d.Private)
	return err
}

func equalRates(a, b *float64) bool { return a == b || a != nil && b != nil && *a == *b }

// differing returns the names of the files that aren't equal.
func differing(a, b map[string][]byte) (names []string) {
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		one, inA := a[name]
		other, inB := b[name]
		if inA != inB || !bytes.Equal(one, other) {
			names = append(names, name)
		}
	}
	return names
}

// releaseIn returns the release whose files a delivery has.
func releaseIn(d remote.Delivery) (r report.Release, err error) {
	var privacy struct {
		report.Privacy
		MadeBy build.Info `json:"made_by"`
	}
	for name, into := range map[string]any{modelFile: &r.Model, hyperparametersFile: &r.Hyperparameters, privacyFile: &privacy} {
		if err := json.Unmarshal(d.Released[name], into); err != nil {
			return r, fmt.Errorf("released/%s: %w", name, err)
		}
	}
	if made, current := privacy.MadeBy, build.Current(); made != current {
		return r, fmt.Errorf("it is made by %.100q, and this is %q; run the same version on all machines", made.String(), current.String())
	}
	tensors, _, err := safetensors.Decode(d.Released[parametersFile])
	if err != nil {
		return r, fmt.Errorf("released/%s: %w", parametersFile, err)
	}
	for _, t := range tensors {
		if t.Ints != nil {
			return r, fmt.Errorf("released/%s: %.40q are no parameters", parametersFile, t.Name)
		}
		r.Parameters = append(r.Parameters, train.Parameter{Name: t.Name, Shape: t.Shape, Values: t.Data})
	}
	r.Score, r.Privacy = d.Score, privacy.Privacy
	return r, nil
}

// checkPrivacy returns an error unless a delivered guarantee is the plan's, for the plan's runs.
func checkPrivacy(planned, got report.Privacy, h report.Hyperparameters) error {
	if planned.Tuning != nil {
		if runs := planned.Tuning.Space.Runs; h.Steps > 0 && len(runs) > 0 && !slices.ContainsFunc(runs, func(r tuner.Run) bool {
			return near(r.NoiseMultiplier, h.NoiseMultiplier) && near(r.SamplingRate, h.SamplingRate) && r.Steps == h.Steps
		}) {
			return fmt.Errorf("%s: %d steps with noise multiplier %v at sampling rate %v are no run of the plan", hyperparametersFile, h.Steps, h.NoiseMultiplier, h.SamplingRate)
		}
		planned = planned.Of(h)
	}
	if !reflect.DeepEqual(got, got.Of(h)) {
		return fmt.Errorf("%s: its training isn't that of %s", privacyFile, hyperparametersFile)
	}
	want, err := generic(planned)
	if err != nil {
		return err
	}
	have, err := generic(got)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if !agree(want[name], have[name]) {
			return fmt.Errorf("%s: its %s is %.100q, and the plan's %.100q", privacyFile, name, fmt.Sprint(have[name]), fmt.Sprint(want[name]))
		}
	}
	if len(have) != len(want) {
		return fmt.Errorf("%s: %d values, and the plan has %d", privacyFile, len(have), len(want))
	}
	return nil
}

func generic(p report.Privacy) (values map[string]any, err error) {
	text, err := json.Marshal(p)
	if err == nil {
		err = json.Unmarshal(text, &values)
	}
	return values, err
}

// agree reports whether two values of JSON are equal, but for the last digits of numbers: processors of other families
// fuse other operations, and so find noise for a budget that differs there.
func agree(a, b any) bool {
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return ok && near(a, b)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, agree)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, agree)
	}
	return a == b
}

// near reports whether two numbers differ by rounding alone.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(a) }

func scoreOf(d remote.Delivery) runs.Score {
	return runs.Score{Metric: string(d.Score.Metric), Value: d.Score.Value}
}

// writeFiles writes delivered files, whose names check has found to be those of a release, into a folder.
func writeFiles(dir string, files map[string][]byte) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for name, content := range files {
		if err := root.WriteFile(filepath.FromSlash(name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
