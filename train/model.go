package train

import (
	"math/rand/v2"

	"github.com/dptrain/dptrain/internal/compile"
)

// Model is what is trained: a graph, and how its parameters begin.
type Model struct {
	Source compile.Source
	// Initial draws the values that the parameters of a run begin with, in the order of Source.Params. They may depend
	// on seed alone and on nothing private. Nil means the values that are bound in the graph, for every run.
	// Package tuner copies what it returns.
	Initial func(seed rand.Source) [][]float32
}
