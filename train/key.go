package train

import "github.com/dptrain/dptrain/internal/random"

// Key is the secret from which a run makes all its random draws. With the key one can remove the noise from a released
// model, so keep it as private as the data. Make one by [NewKey]. A key is an array of 32 bytes. No format and no
// encoding shows it: to resume a run in another process, keep key[:].
type Key = random.Key

// NewKey returns a key drawn by the operating system.
func NewKey() Key { return random.NewKey() }

// InsecureKey returns a key made from a seed, for runs that must be repeated exactly. A model trained with it
// has no privacy guarantee, because a seed can be guessed.
func InsecureKey(seed uint64) Key { return random.InsecureKey(seed) }
