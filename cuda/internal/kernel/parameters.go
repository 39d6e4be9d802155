package kernel

import "github.com/dptrain/dptrain/cuda/internal/driver"

// Minibatches is the parameter that describes the runs of a step to the kernels that compute gradients. It points to
// tables with a row for each run; run.cuh documents their contents and units.
type Minibatches struct {
	Identities, Clocks, Settings, Batches, Sizes, Norms, Sums, Params driver.Pointer

	Runs, Width, Size, Taken, Slot, Unused int32
}

// Group is another parameter of the kernels for draws and updates. It points to more tables of the runs, which run.cuh
// documents.
type Group struct {
	Lists, Members, Occupied, Firsts, Seconds driver.Pointer

	UpdateBlocks, Unused int32
}
