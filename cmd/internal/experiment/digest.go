package experiment

import (
	"crypto/sha256"
	"errors"
	"slices"

	"github.com/dptrain/dptrain/train"
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

// Arithmetic returns the name of the arithmetic in which an engine trains a loaded plan's model: equal names and keys
// mean equal bytes.
func (p *Plan) Arithmetic(e train.Engine) (_ string, err error) {
	if p.data == nil {
		return "", errors.New("name a plan's arithmetic: its data aren't loaded")
	}
	loaded, err := train.Load(e, p.model, p.data.train)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, loaded.Close()) }()
	fingerprint, err := loaded.Fingerprint(p.scored())
	return fingerprint["engine"], err
}
