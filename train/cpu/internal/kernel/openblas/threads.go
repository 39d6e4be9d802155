//go:build openblas

package openblas

// extern void openblas_set_num_threads(int);
import "C"

import "sync"

// UseOneThread makes every later product run on its caller's thread, whatever OPENBLAS_NUM_THREADS says:
// the engine runs one block of samples per core, and threads within a product would only compete.
var UseOneThread = sync.OnceFunc(func() { C.openblas_set_num_threads(1) })
