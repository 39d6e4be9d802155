package walk

import (
	"math"

	"github.com/dptrain/dptrain/internal/compile"
)

// opcodes are the opcodes of the operations that kernels know. A gradient is spread by a scatter.
var opcodes = map[compile.Op]int32{
	compile.Unary: OpUnary, compile.Binary: OpBinary, compile.BinaryScalar: OpScalar, compile.MatMul: OpMatmul,
	compile.Conv: OpConv, compile.MaxPool: OpMaxpool, compile.Gather: OpGather, compile.Scatter: OpScatter,
	compile.Softmax: OpSoftmax, compile.LogSoftmax: OpLogsoftmax, compile.Fill: OpFill, compile.UnaryBack: OpUnaryBack,
	compile.BinaryBack: OpBinaryBack, compile.ScalarBack: OpScalarBack, compile.MatMulBack: OpMatmulBack,
	compile.ConvBack: OpConvBack, compile.MaxPoolBack: OpMaxpoolBack, compile.SoftmaxBack: OpSoftmaxBack,
	compile.LogSoftmaxBack: OpLogsoftmaxBack, compile.GradMatMul: OpGradMatmul, compile.GradConv: OpGradConv,
	compile.GradSpread: OpScatter, compile.Lookup: OpLookup, compile.GradLookup: OpGradLookup,
	compile.Product: OpProduct, compile.Normalize: OpNormalize, compile.NormalizeBack: OpNormalizeBack, compile.Dropout: OpDropout,
	compile.Normals: OpNormals, compile.Uniforms: OpUniforms,
}

// predicts reports whether the kernel of predictions knows an opcode: it lacks the opcodes that only gradients need.
func predicts(opcode int32) bool {
	return opcode <= OpFill || opcode == OpLookup || opcode == OpProduct || opcode == OpNormalize
}

// elementwise reports whether element j of an operation's result depends on elements j of its operands alone, so one
// thread has them all.
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

// taken returns the stride or dilation between the given number of elements. With one element it is never taken, and 1
// for kernels: the program's may have any value, and kernels loop over all remainders of strides.
func taken(step, times int) int {
	if times == 1 {
		return 1
	}
	return step
}

// setWindow writes a window's words.
func setWindow(code []int32, w *compile.Window) {
	for word, n := range map[int]int{
		WordC: w.C, WordH: w.H, WordW: w.W, WordKh: w.KH, WordKw: w.KW, WordPadH: w.PadH, WordPadW: w.PadW,
		WordStrideH: taken(w.StrideH, w.OutH), WordStrideW: taken(w.StrideW, w.OutW),
		WordDilationH: taken(w.DilationH, w.KH), WordDilationW: taken(w.DilationW, w.KW),
		WordOutC: w.OutC, WordOutH: w.OutH, WordOutW: w.OutW,
	} {
		code[word] = int32(n)
	}
}

func floatBits(v float32) int32 { return int32(math.Float32bits(v)) }
