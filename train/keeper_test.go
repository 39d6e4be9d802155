package train_test

import (
	"errors"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
)

// shelf is a store in memory.
type shelf map[string][]byte

func (s shelf) Save(name string, content []byte) error {
	s[name] = slices.Clone(content)
	return nil
}
func (s shelf) Load(name string) ([]byte, error) { return s[name], nil }
func (s shelf) Remove(name string) error {
	delete(s, name)
	return nil
}

// broken is a store that can't save from some moment on.
type broken struct {
	shelf
	left *int
}

var errFull = errors.New("the disk is full")

func (b broken) Save(name string, content []byte) error {
	if *b.left--; *b.left < 0 {
		return errFull
	}
	return b.shelf.Save(name, content)
}

// all returns one keeper for each of n runs.
func all(k train.Keeper, n int) []train.Keeper { return slices.Repeat([]train.Keeper{k}, n) }

// crowd returns settings of two runs of different length on 4,000 samples of two classes, and a test set.
func crowd(t *testing.T) (*train.Loaded, []train.Settings, *train.Classification) {
	t.Helper()
	const n, width = 4000, 20
	samples, labels := make([]float32, n*width), make([]int32, n)
	for i := range labels {
		labels[i] = int32(i % 2)
		for k := range width {
			samples[i*width+k] = float32(math.Sin(float64(i*width+k))) + float32(labels[i])
		}
	}
	data, err := train.NewClassification(samples, labels, 2)
	if err != nil {
		t.Fatal(err)
	}
	model, err := models.New("mlp:32", []int{width}, 2, models.Options{Activation: models.TemperedSigmoid{Scale: 2, Temperature: 2, Offset: 1}})
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := train.Load(cpu.New(cpu.Options{Workers: 2}), model, data.Data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = loaded.Close() })
	key := train.InsecureKey(3)
	settings := make([]train.Settings, 2)
	for i := range settings {
		settings[i] = train.Settings{
			Privacy:   train.Privacy{SamplingRate: 0.25, NoiseMultiplier: 1, ClippingNorm: 1, Steps: 200 * (i + 1), NominalSize: n},
			Optimizer: train.SGD(0.1), Key: key, Trial: uint32(i + 1),
		}
	}
	return loaded, settings, data
}

// If saving a state fails once, the training stops, and its last state is still saved. Times of processes add up.
func TestTrainingGoesOnFromItsState(t *testing.T) {
	loaded, settings, _ := crowd(t)
	settings = settings[:1]
	settings[0].Privacy.Steps = 100 // so many that the save that fails isn't the last one
	store := brief{shelf{}, new(2)}
	k := train.Keeper{Store: store, Every: time.Microsecond}
	group, err := loaded.Start(settings...)
	if err != nil {
		t.Fatal(err)
	}
	var keep *train.KeepError
	if _, err := group.TrainKept(t.Context(), all(k, 1), nil); !errors.As(err, &keep) || !errors.Is(err, errFull) {
		t.Fatal(err)
	}
	now, err := group.State(0)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := k.State(1)
	if err != nil || kept == nil || kept.Step() != now.Step() || now.Step() == 0 {
		t.Fatalf("kept %v (%v), want a state after %d steps", kept, err, now.Step())
	}
	if err := group.Close(); err != nil {
		t.Fatal(err)
	}
	store.shelf["trace-1"] = []byte(`{"seconds":5}`)
	if group, err = loaded.Start(settings...); err != nil {
		t.Fatal(err)
	}
	defer group.Close()
	traces, err := group.TrainKept(t.Context(), all(k, 1), nil)
	if err != nil || traces[0].Seconds < 5 {
		t.Errorf("%+v, %v", traces, err)
	}
}

// brief is a store that can't save for a moment.
type brief struct {
	shelf
	until *int // saves that succeed before the one that fails
}

func (b brief) Save(name string, content []byte) error {
	if *b.until--; *b.until == -1 {
		return errFull
	}
	return b.shelf.Save(name, content)
}

// The first state that can't be saved stops the training with an error that says so. The states before it are kept.
func TestAStoreThatIsFullStopsTheTraining(t *testing.T) {
	loaded, settings, _ := crowd(t)
	for _, left := range []int{0, 1, 5} {
		store := broken{shelf{}, new(left)}
		group, err := loaded.Start(settings...)
		if err != nil {
			t.Fatal(err)
		}
		_, err = group.TrainKept(t.Context(), all(train.Keeper{Store: store, Every: time.Millisecond}, 2), nil)
		var keep *train.KeepError
		if !errors.As(err, &keep) || !errors.Is(err, errFull) {
			t.Errorf("%d saves: %v", left, err)
		}
		if left > 0 && !slices.Contains(slices.Collect(maps.Keys(store.shelf)), "state-1") {
			t.Errorf("%d saves: kept %v", left, slices.Collect(maps.Keys(store.shelf)))
		}
		if err := group.Close(); err != nil {
			t.Error(err)
		}
	}
}
