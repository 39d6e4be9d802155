package experiment

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/internal/networks"
	"github.com/dptrain/dptrain/internal/released"
	"github.com/dptrain/dptrain/train"
)

// Released is a released model that is ready for predictions.
type Released struct {
	release.Model
	*train.Predictor
	engine train.Engine

	// KeepGoing predicts although rows of a table can't be read: see Rows.Bad. Set it before ReadFiles.
	KeepGoing bool
}

// Open reads a released model from a run's directory. The given engine computes predictions; another one may have
// trained the model. The caller must close the model.
func Open(run string, e train.Engine) (*Released, error) {
	model, tensors, err := released.Read(run)
	if err != nil {
		return nil, err
	}
	network, err := modelOf(model)
	if err != nil {
		return nil, fmt.Errorf("%w in %s: %w", release.ErrNoModel, run, err)
	}
	values, err := model.Values(network, tensors)
	if err != nil {
		return nil, fmt.Errorf("%w in %s: %w", release.ErrNoModel, run, err)
	}
	predictor, err := train.NewPredictor(e, network, values)
	if err != nil {
		return nil, err
	}
	return &Released{Model: model, Predictor: predictor, engine: e}, nil
}

// Portable reads a released model from a run's directory, with its layers and its parameters in PyTorch's layouts,
// whichever version released it.
func Portable(run string) (release.Model, []train.Parameter, error) {
	model, tensors, err := released.Read(run)
	if err != nil {
		return release.Model{}, nil, err
	}
	layers, err := model.Described()
	if err != nil {
		return release.Model{}, nil, fmt.Errorf("%w in %s: %w", release.ErrNoModel, run, err)
	}
	parameters, err := released.Parameters[train.Parameter](tensors)
	if err == nil && len(model.Layers) == 0 {
		parameters, err = networks.ToPyTorch(layers, parameters)
	} else if err == nil {
		_, err = released.FromPyTorch(model, parameters)
	}
	if err != nil {
		return release.Model{}, nil, fmt.Errorf("%w in %s: model %s: %w", release.ErrNoModel, run, model.Network, err)
	}
	model.Layers = layers
	return model, parameters, nil
}

// Class returns the name of an output.
func (r *Released) Class(i int) string {
	if len(r.Classes) > 0 {
		return r.Classes[i]
	}
	return fmt.Sprint(i)
}

// TestSet loads the public test set of the model's named data set.
func (r *Released) TestSet(ctx context.Context, f Follower) (Rows, error) {
	textLength := 0
	if r.Vocabulary != 0 && len(r.Shape) == 1 {
		textLength = r.Shape[0]
	}
	set, err := loadSet(ctx, r.Dataset, textLength, r.engine, f)
	if err != nil {
		return Rows{}, err
	}
	return Rows{Labels: set.test, Data: set.test.Inputs()}, nil
}

// TrainedOn reports whether the training file in a run's settings is the given file or has the same name. It returns
// false if the run's private folder is missing.
func TrainedOn(run, file string) bool {
	text, err := os.ReadFile(filepath.Join(run, "private", "settings.yaml"))
	if err != nil || file == "" {
		return false
	}
	e, err := settings.Resolve(settings.File{Text: text}, nil)
	return err == nil && e.Dataset == settings.Files && (sameFile(e.Data.Train, file) || filepath.Base(e.Data.Train) == filepath.Base(file))
}
