package train

import "github.com/dptrain/dptrain/internal/random"

// Key is the one secret that all random draws of a run come from. Whoever knows it can take the noise
// off a released model: keep it as private as the data.
type Key = random.Key

// NewKey draws a key from the operating system.
func NewKey() Key { return random.NewKey() }

// InsecureKey makes a key from a seed, for runs that must be repeated exactly. A model trained with it
// has no privacy guarantee: a seed can be guessed.
func InsecureKey(seed uint64) Key { return random.InsecureKey(seed) }
