package train

import (
	"math/rand/v2"

	"github.com/dptrain/dptrain/train/compile"
)

// Builder makes a fresh model with initial parameters drawn from seed. Every call must make the same
// graph; nothing but the initial values may depend on seed, and nothing at all on private data.
type Builder func(seed rand.Source) (compile.Source, error)
