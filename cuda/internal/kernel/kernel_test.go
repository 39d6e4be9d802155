package kernel

import (
	"testing"

	"github.com/dptrain/dptrain/cuda/internal/kerneltest"
)

func TestWordsAreTheHeaders(t *testing.T) {
	kerneltest.Words(t, "kernel", "run.cuh", "draw.cu")
}

func TestLayoutsAreTheHeaders(t *testing.T) {
	kerneltest.Layouts(t, "run.cuh", map[string]any{"minibatches": Minibatches{}, "group": Group{}})
}
