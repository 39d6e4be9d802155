package train

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/engine"
)

// A trainer that another goroutine closes, as on a signal, either trains on or returns an error: no engine is closed
// while it takes steps, or called afterwards.
func TestCloseWhileATrainerTrains(t *testing.T) {
	for range 10 {
		x := must(New(strict{cpu.New(cpu.Options{})}, logistic(t, rand.NewPCG(3, 4)), threeClouds(t, 60).Data, settings()))
		var closing sync.WaitGroup
		closing.Go(func() {
			for errors.Is(x.Close(), ErrInUse) {
				time.Sleep(time.Microsecond)
			}
		})
		if _, err := x.Train(context.Background(), nil); err != nil && !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		closing.Wait()
	}
}

type embedsNone struct{ Labelled }

// embedsOther has the labels of one set and the samples of another.
type embedsOther struct {
	*Classification
	inputs *Data
}

func (e embedsOther) Inputs() *Data { return e.inputs }

// A type that embeds a labelled set is refused: the set may be nil, and the samples may belong to another set.
func TestLabelledByEmbedding(t *testing.T) {
	l := must(Load(engine.FirstOf(&fakeEngine{}), logistic(t, rand.NewPCG(3, 4)), threeClouds(t, 60).Data))
	g := must(l.Start(settings()))
	for name, test := range map[string]Labelled{
		"nil": embedsNone{}, "another's samples": embedsOther{threeClouds(t, 60), threeClouds(t, 30).Data}, "the whole": embedsNone{threeClouds(t, 30)},
	} {
		_, err := g.Score(context.Background(), test, 0)
		var check, score *DataError
		if !errors.As(l.CheckTest(test), &check) || !errors.As(err, &score) {
			t.Errorf("%s: %v, %v", name, l.CheckTest(test), err)
		}
	}
}
