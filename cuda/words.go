package cuda

import (
	"math"

	"github.com/dptrain/dptrain/internal/compile"
)

// The numbers of cuda/kernels/program.cuh, in its order; a test holds them to it.
const (
	opUnary = iota
	opBinary
	opScalar
	opMatmul
	opConv
	opMaxpool
	opGather
	opScatter
	opSoftmax
	opLogsoftmax
	opFill
	opUnaryBack
	opBinaryBack
	opScalarBack
	opMatmulBack
	opConvBack
	opMaxpoolBack
	opSoftmaxBack
	opLogsoftmaxBack
	opGradMatmul
	opGradConv
	opLookup
	opGradLookup
	opMerge
	operations
)

const (
	wordOp = iota
	wordWait
	wordFunc
	wordAdd
	wordSide
	wordScalar
	wordSize
	wordOut
	wordIn0        = wordOut + 3
	wordIn1        = wordIn0 + 3
	wordIn2        = wordIn1 + 3
	wordIn3        = wordIn2 + 3
	wordWhere      = wordIn3 + 3
	wordRows       = wordWhere + 1
	wordK          = wordRows + 1
	wordN          = wordK + 1
	wordTransposed = wordN + 1
	wordC          = wordTransposed + 1 // and the window's other numbers
	wordTable      = wordC + 14
	wordWarp       = wordTable + 1
	words          = wordWarp + 1
)

const (
	nowhere = iota
	inBuffer
	inData
	inParams
	inConstants
	inIntegers
)

const (
	ofGradient = iota
	ofProduct
	ofRows
)

const (
	sumRule = iota
	sumParam
	sumSize
	sumX
	sumDelta      = sumX + 3
	sumK          = sumDelta + 3
	sumN          = sumK + 1
	sumTransposed = sumN + 1
	sumWords      = sumTransposed + 1
)

// opcodes are the numbers of operations that kernels know. What a gradient is spread over it is scattered to.
var opcodes = map[compile.Op]int32{
	compile.Unary: opUnary, compile.Binary: opBinary, compile.BinaryScalar: opScalar, compile.MatMul: opMatmul,
	compile.Conv: opConv, compile.MaxPool: opMaxpool, compile.Gather: opGather, compile.Scatter: opScatter,
	compile.Softmax: opSoftmax, compile.LogSoftmax: opLogsoftmax, compile.Fill: opFill, compile.UnaryBack: opUnaryBack,
	compile.BinaryBack: opBinaryBack, compile.ScalarBack: opScalarBack, compile.MatMulBack: opMatmulBack,
	compile.ConvBack: opConvBack, compile.MaxPoolBack: opMaxpoolBack, compile.SoftmaxBack: opSoftmaxBack,
	compile.LogSoftmaxBack: opLogsoftmaxBack, compile.GradMatMul: opGradMatmul, compile.GradConv: opGradConv,
	compile.GradSpread: opScatter, compile.Lookup: opLookup, compile.GradLookup: opGradLookup,
}

// elementwise tells whether element j of an operation's result depends on elements j of its operands alone, which one thread
// then has.
func elementwise(op compile.Op) bool {
	switch op {
	case compile.Fill, compile.Unary, compile.Binary, compile.BinaryScalar, compile.UnaryBack, compile.BinaryBack, compile.ScalarBack:
		return true
	}
	return false
}

func bit(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// windowWords are a window's words. Of a step that is never taken they say 1: it may be anything, and kernels go through all
// remainders of strides.
func windowWords(w *compile.Window) []int32 {
	taken := func(step, times int) int {
		if times == 1 {
			return 1
		}
		return step
	}
	out := make([]int32, 0, wordTable-wordC)
	for _, n := range []int{
		w.C, w.H, w.W, w.KH, w.KW, w.PadH, w.PadW, taken(w.StrideH, w.OutH), taken(w.StrideW, w.OutW),
		taken(w.DilationH, w.KH), taken(w.DilationW, w.KW), w.OutC, w.OutH, w.OutW,
	} {
		out = append(out, int32(n))
	}
	return out
}

func floatBits(v float32) int32 { return int32(math.Float32bits(v)) }
