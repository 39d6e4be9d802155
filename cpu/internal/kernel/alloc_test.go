package kernel

import "testing"

// TestAllocations: no kernel that runs once for each microbatch allocates.
func TestAllocations(t *testing.T) {
	x, y, z := make([]float32, 4096), make([]float32, 4096), make([]float32, 81*64)
	arg := make([]int32, 4096)
	for name, call := range map[string]func(){
		"Gemm":       func() { Gemm(true, true, 30, 20, 10, x, 30, y, 10, false, z, 20) },
		"Im2col":     func() { Im2col(z, y[:64], 1, 8, 8, 8, 8, 4, 4, 1, 1, 1, 1) },
		"LogSoftmax": func() { LogSoftmax(x, y, 64, 64) },
		"MaxPool":    func() { MaxPool(z[:49], arg[:49], x[:64], 1, 8, 8, 2, 2, 0, 0, 1, 1) },
		"SumSquares": func() { SumSquares(x) },
	} {
		call()
		if n := testing.AllocsPerRun(100, call); n > 0 {
			t.Errorf("%s allocates %v times a call", name, n)
		}
	}
}
