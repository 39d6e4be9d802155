package features

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"github.com/dptrain/dptrain/internal/networks"
	"github.com/dptrain/dptrain/internal/safetensors"
)

// Weights is a trained network's tensors by their names in PyTorch's state.
type Weights map[string]networks.Tensor

// ReadWeights returns the weights in a safetensors file.
func ReadWeights(file []byte) (Weights, error) {
	tensors, _, err := safetensors.Decode(file)
	if err != nil {
		return nil, fmt.Errorf("read weights: %w", err)
	}
	w := Weights{}
	for _, t := range tensors {
		w[t.Name] = networks.Tensor{Shape: t.Shape, Values: t.Data}
	}
	return w, nil
}

// sum hashes the weights, independently of their order.
func (w Weights) sum() [sha256.Size]byte {
	h := newHasher()
	for _, name := range slices.Sorted(maps.Keys(w)) {
		h.text(name)
		h.text(fmt.Sprint(w[name].Shape))
		h.floats(w[name].Values)
	}
	return h.sum()
}
