package cuda

import (
	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/cuda/internal/kernel"
	"github.com/dptrain/dptrain/cuda/internal/walk"
	"github.com/dptrain/dptrain/internal/engine"
)

// gradients is a program and its data on one device, with the kernels that compute gradients and predictions: the part
// of a step that depends on the kernels' design. Draws, releases, states and polling are the same for every design.
type gradients interface {
	// ClippedSums launches kernels that add the contributions of every run's minibatch to the run's row of Sums, in
	// units of the fine grid, and write the samples' squared norms to Norms; see package engine.
	ClippedSums(kernel.Minibatches) error

	// Predict computes the outputs for samples [from, to) of data with some rows of params, and writes the outputs for
	// row rows[k] to out[k], which has space for all of data. It waits for the launches before it.
	Predict(data *engine.Data, from, to int, params driver.Pointer, rows []int32, out [][]float32) error

	// Arithmetic names all that decides the bits of sums and predictions, besides the PTX and the device.
	Arithmetic() string

	// Free frees the device's memory.
	Free() error
}

var _ gradients = (*walk.Gradients)(nil)
