// Code generated from program.cuh by go test ./cuda/internal/walk -update. DO NOT EDIT.

package walk

const (
	OpUnary          = 0
	OpBinary         = 1
	OpScalar         = 2
	OpMatmul         = 3
	OpConv           = 4
	OpMaxpool        = 5
	OpGather         = 6
	OpScatter        = 7
	OpSoftmax        = 8
	OpLogsoftmax     = 9
	OpFill           = 10
	OpUnaryBack      = 11
	OpBinaryBack     = 12
	OpScalarBack     = 13
	OpMatmulBack     = 14
	OpConvBack       = 15
	OpMaxpoolBack    = 16
	OpSoftmaxBack    = 17
	OpLogsoftmaxBack = 18
	OpGradMatmul     = 19
	OpGradConv       = 20
	OpLookup         = 21
	OpGradLookup     = 22
	OpMerge          = 23
	OpProduct        = 24
	OpNormalize      = 25
	OpNormalizeBack  = 26
	OpDropout        = 27
	OpNormals        = 28
	OpUniforms       = 29
	Operations       = 30
)

const (
	WordOp             = 0
	WordWait           = 1
	WordFunc           = 2
	WordAdd            = 3
	WordSide           = 4
	WordScalar         = 5
	WordSize           = 6
	WordOut            = 7
	WordIn0            = 10
	WordIn1            = 13
	WordIn2            = 16
	WordIn3            = 19
	WordWhere          = 22
	WordRows           = 23
	WordK              = 24
	WordN              = 25
	WordTransposed     = 26
	WordParts          = 27
	WordOnce           = 27
	WordGroups         = 27
	WordTransposedLeft = 28
	WordDraws          = 27
	WordDraw           = 28
	WordBelow          = 29
	WordBelowHigh      = 30
	WordC              = 27
	WordH              = 28
	WordW              = 29
	WordKh             = 30
	WordKw             = 31
	WordPadH           = 32
	WordPadW           = 33
	WordStrideH        = 34
	WordStrideW        = 35
	WordDilationH      = 36
	WordDilationW      = 37
	WordOutC           = 38
	WordOutH           = 39
	WordOutW           = 40
	WordTable          = 41
	WordWarp           = 42
	Words              = 43
)

const (
	MeetingFirst    = 0
	MeetingStep     = 1
	MeetingCount    = 2
	MeetingBack     = 3
	MeetingPixels   = 4
	MeetingPosition = 5
	MeetingWords    = 6
)

const (
	Nowhere     = 0
	InBuffer    = 1
	InData      = 2
	InParams    = 3
	InConstants = 4
	InIntegers  = 5
	InDerived   = 6
)

const (
	OfGradient = 0
	OfProduct  = 1
	OfRows     = 2
)

const (
	SumRule       = 0
	SumParam      = 1
	SumSize       = 2
	SumX          = 3
	SumDelta      = 6
	SumK          = 9
	SumN          = 10
	SumTransposed = 11
	SumWords      = 12
)
