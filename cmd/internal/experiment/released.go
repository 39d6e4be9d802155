package experiment

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/internal/networks"
	"github.com/dptrain/dptrain/internal/safetensors"
	"github.com/dptrain/dptrain/train"
)

// Released is a released model that is ready for predictions.
type Released struct {
	release.Model
	*train.Predictor
	engine train.Engine
}

// Open reads a released model from a run's directory. The given engine computes predictions; another one may have
// trained the model. The caller must close the model.
func Open(run string, e train.Engine) (*Released, error) {
	model, parameters, err := release.ReadModel(run)
	if err != nil {
		return nil, err
	}
	network, err := modelOf(model)
	if err != nil {
		return nil, fmt.Errorf("%w in %s: %w", release.ErrNoModel, run, err)
	}
	if parameters, err = graphLayouts(model, parameters); err != nil {
		return nil, fmt.Errorf("%w in %s: model %s: %w", release.ErrNoModel, run, model.Network, err)
	}
	values := make([][]float32, len(network.Parameters))
	for i, p := range network.Parameters {
		at := slices.IndexFunc(parameters, func(t safetensors.Tensor) bool { return t.Name == p.Name() })
		if at < 0 || !slices.Equal(parameters[at].Shape, []int(p.Shape())) || parameters[at].Ints != nil {
			return nil, fmt.Errorf("%w in %s: model %s takes a parameter %q of shape %v, which isn't there", release.ErrNoModel, run, model.Network, p.Name(), p.Shape())
		}
		values[i] = parameters[at].Data
	}
	if len(parameters) != len(values) {
		return nil, fmt.Errorf("%w in %s: %d parameters, and model %s takes %d", release.ErrNoModel, run, len(parameters), model.Network, len(values))
	}
	predictor, err := train.NewPredictor(e, network, values)
	if err != nil {
		return nil, err
	}
	return &Released{model, predictor, e}, nil
}

// Portable reads a released model from a run's directory, with its layers and its parameters in PyTorch's layouts,
// whichever version released it.
func Portable(run string) (release.Model, []train.Parameter, error) {
	model, tensors, err := release.ReadModel(run)
	if err != nil {
		return release.Model{}, nil, err
	}
	layers, err := layersOf(model)
	if err != nil {
		return release.Model{}, nil, fmt.Errorf("%w in %s: %w", release.ErrNoModel, run, err)
	}
	parameters, err := parametersOf(tensors)
	if err == nil && len(model.Layers) == 0 {
		parameters, err = networks.ToPyTorch(layers, parameters)
	} else if err == nil {
		_, err = fromPyTorch(model, parameters)
	}
	if err != nil {
		return release.Model{}, nil, fmt.Errorf("%w in %s: model %s: %w", release.ErrNoModel, run, model.Network, err)
	}
	model.Layers = layers
	return model, parameters, nil
}

// graphLayouts returns tensors in the layouts of the graph, in which earlier versions released them.
func graphLayouts(m release.Model, tensors []safetensors.Tensor) ([]safetensors.Tensor, error) {
	if len(m.Layers) == 0 {
		return tensors, nil
	}
	parameters, err := parametersOf(tensors)
	if err == nil {
		parameters, err = fromPyTorch(m, parameters)
	}
	if err != nil {
		return nil, err
	}
	out := make([]safetensors.Tensor, len(parameters))
	for i, p := range parameters {
		out[i] = safetensors.Tensor{Name: p.Name, Shape: p.Shape, Data: p.Values}
	}
	return out, nil
}

func parametersOf(tensors []safetensors.Tensor) ([]train.Parameter, error) {
	out := make([]train.Parameter, len(tensors))
	for i, t := range tensors {
		if t.Ints != nil {
			return nil, fmt.Errorf("%q holds integers, which are no parameters", t.Name)
		}
		out[i] = train.Parameter{Name: t.Name, Shape: t.Shape, Values: t.Data}
	}
	return out, nil
}

// fromPyTorch converts the parameters of a described model to the graph's layouts. It checks that the description has
// the layers of the network that it names.
func fromPyTorch(m release.Model, parameters []train.Parameter) ([]train.Parameter, error) {
	if layers, err := layersOf(m); err != nil || !slices.Equal(layers, m.Layers) {
		return nil, errors.New("its layers in model.json are not those of the model; restore the file")
	}
	return networks.FromPyTorch(m.Layers, parameters)
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
	text, err := ReadSettings(filepath.Join(run, "private", "settings.yaml"))
	if err != nil || file == "" {
		return false
	}
	e, err := settings.Resolve(settings.File{Text: text}, nil)
	return err == nil && e.Dataset == settings.Files && (sameFile(e.Data.Train, file) || filepath.Base(e.Data.Train) == filepath.Base(file))
}
