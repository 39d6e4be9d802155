package kernel

import "github.com/dptrain/dptrain/cuda/internal/driver"

// Minibatches is the parameter that connects the runs of a step with the kernels that compute gradients: tables with a
// row for each run. Their contents and units are documented in run.cuh.
type Minibatches struct {
	Settings, Batches, Cuts, Sizes, Norms, Sums, Params driver.Pointer

	Runs, Width, Size, Chunk int32
}

// Group is the parameter that draws and updates take besides: more tables of the runs, which run.cuh documents.
type Group struct {
	Identities, Clocks, Lists, Members, Masks, Occupied, Firsts, Seconds driver.Pointer

	MaskWords, DrawBlocks, UpdateBlocks, Unused int32
}
