package walk

import (
	"testing"

	"github.com/dptrain/dptrain/cuda/internal/kerneltest"
)

func TestWordsAreTheHeaders(t *testing.T) { kerneltest.Words(t, "walk", "program.cuh") }

func TestLayoutsAreTheHeaders(t *testing.T) {
	kerneltest.Layouts(t, "program.cuh", map[string]any{
		"program": program{}, "dataset": dataset{}, "gradient_program": gradientProgram{}, "prediction": prediction{},
	})
}
