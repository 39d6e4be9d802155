package cuda

import (
	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/cuda/internal/kernel"
	"github.com/dptrain/dptrain/cuda/internal/walk"
	"github.com/dptrain/dptrain/internal/engine"
)

// gradients is a program and its data on one device, and the kernels that compute gradients and predictions of them:
// all of a step that a design of kernels decides. Draws, releases, states and polling are the same for every design.
type gradients interface {
	// ClippedSums launches kernels that add what the samples of every run's minibatch contribute to its row of Sums, in
	// units of the fine grid, and write their squared norms to Norms; see package engine.
	ClippedSums(kernel.Minibatches) error

	// Predict computes the outputs for samples [from, to) of data by some rows of params, and writes those of rows[k]
	// to out[k], which has space for all of data. It waits for the launches before it.
	Predict(data *engine.Data, from, to int, params driver.Pointer, rows []int32, out [][]float32) error

	// Arithmetic names all that decides the bits of sums and predictions, besides the PTX and the device.
	Arithmetic() string

	// Free frees the device's memory.
	Free() error
}

var _ gradients = (*walk.Gradients)(nil)
