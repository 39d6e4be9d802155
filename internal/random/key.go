package random

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// Key is the one secret from which all draws of a run come: a 256-bit ChaCha20 key. With the key one can subtract the
// noise, so it belongs with the run's private files and never in a log. Formatting a Key as text doesn't show it.
type Key [32]byte

// NewKey returns a key from the operating system's entropy source. If that fails, the program ends: see [rand.Read].
func NewKey() Key {
	var k Key
	_, _ = rand.Read(k[:]) // it returns no error
	return k
}

// insecureDomain separates insecure keys from every other use of SHA-256 on a seed.
const insecureDomain = "dptrain insecure key v1"

// InsecureKey returns the key SHA-256("dptrain insecure key v1" ‖ seed as 8 little-endian bytes). It makes a run
// repeatable by anyone who guesses the seed, so such a run has no privacy.
func InsecureKey(seed uint64) Key {
	message := binary.LittleEndian.AppendUint64([]byte(insecureDomain), seed)
	return sha256.Sum256(message)
}

// String hides the key, so that printing a structure that holds one doesn't publish it.
func (k Key) String() string { return "random.Key(hidden)" }

// Format hides the key from every verb of package fmt, %d and %x included.
func (k Key) Format(f fmt.State, _ rune) { fmt.Fprint(f, k.String()) }

// MarshalJSON returns an error, so that no structure that holds a key can be encoded and published.
func (k Key) MarshalJSON() ([]byte, error) {
	return nil, errors.New("a random key is secret: not encoded")
}

// Purpose is the use of a stream. Streams of different purposes never overlap.
type Purpose uint8

// The purposes of dptrain's streams. Their numbers are part of the nonce, so changing one changes every run.
const (
	Subset         Purpose = iota + 1 // the tuning subset X1
	Repetitions                       // the number of trials K
	Candidate                         // a trial's hyperparameters
	Initialisation                    // a model's initial parameters
	Minibatch                         // Poisson sampling of one step
	Noise                             // Gaussian noise of one step
	HeldOut                           // which samples are held out from training
	Score                             // Gaussian noise of one score on held-out samples
	Units                             // which rows of a unit with many rows are kept
	GraphDraws                        // dropout's and random nodes' draws in one step
)

// ID names one stream under a key.
type ID struct {
	Purpose Purpose
	Trial   uint32 // 0 if there is only one
	Step    uint32 // 0 if there is only one
}

// nonce lays the ID out as the 96-bit nonce of RFC 8439: byte 0 is the purpose, bytes 1 to 3 are zero, bytes 4 to 7
// the trial and bytes 8 to 11 the step, both little-endian. The layout is injective, so two IDs never share a nonce.
func (id ID) nonce() [12]byte {
	var n [12]byte
	n[0] = byte(id.Purpose)
	binary.LittleEndian.PutUint32(n[4:], id.Trial)
	binary.LittleEndian.PutUint32(n[8:], id.Step)
	return n
}
