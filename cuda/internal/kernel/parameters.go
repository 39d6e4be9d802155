package kernel

import "github.com/dptrain/dptrain/cuda/internal/driver"

// Minibatches is what the runs of a step share with the kernels that compute gradients: tables with a row for each run.
// The struct of this name in run.cuh says what they hold.
type Minibatches struct {
	Settings, Batches, Cuts, Sizes, Norms, Sums, Params driver.Pointer

	Runs, Width, Size, Chunk int32
}

// Group is what else the draws and updates of the runs need. The struct of this name in run.cuh says what the tables
// hold.
type Group struct {
	Identities, Clocks, Lists, Members, Masks, Occupied, Firsts, Seconds driver.Pointer

	MaskWords, DrawBlocks, UpdateBlocks, Unused int32
}
