package cuda

import (
	"errors"

	"github.com/dptrain/dptrain/train/engine"
)

// Options change how fast an engine runs, never what it computes.
type Options struct {
	Devices []int        // the GPUs to use, by their numbers; nil means all that are usable
	Warn    func(string) // is told when memory is short and the engine takes less at a time; may be nil
}

// New opens GPUs. If there is none that can be used the error is an [ErrNoDevice].
func New(o Options) (*Engine, error) {
	if _, err := Devices(); err != nil {
		return nil, err
	}
	return nil, errors.New("not there yet")
}

// Engine runs programs on GPUs.
type Engine struct {
	engine.Engine
}

// Close gives the GPUs back.
func (e *Engine) Close() error { return nil }
