package experiment

import (
	"crypto/sha256"
	"errors"
	"slices"
)

// DataDigest returns a hash of a loaded plan's training samples and test inputs: machines with equal hashes train on
// equal data. It is private, since it can confirm a guess at the data.
func (p *Plan) DataDigest() ([sha256.Size]byte, error) {
	if p.data == nil {
		return [sha256.Size]byte{}, errors.New("hash a plan's data: they aren't loaded")
	}
	training, test := p.data.train.Digest(), p.data.testDigest()
	return sha256.Sum256(slices.Concat(training[:], test[:])), nil
}
