package kernel

// table is one implementation of the kernels that have a fast form. Its functions don't check lengths: the exported
// functions do.
type table struct {
	name    string
	product product

	add, sub, mul, div          func(dst, a, b []float32)
	addScalar, mulScalar        func(dst, a []float32, s float32)
	subFromScalar, divScalarBy  func(dst, a []float32, s float32)
	mulAdd                      func(dst, a, b []float32)
	square, neg, abs, sqrt      func(dst, a []float32)
	larger, smaller, atLeast    func(dst, a, b []float32)
	largerScalar, smallerScalar func(dst, a []float32, s float32)
	atLeastScalar, atMostScalar func(dst, a []float32, s float32)
	dropout, addDropout         func(dst, a []float32, draws []uint64, maximum uint32, keep float32)
	exp, tanh, sigmoid, log     func(dst, a []float32)
	normalize                   func(dst, a []float32, rows, cols int, add float32)
	normalizeBackward           func(dst, dy, x []float32, rows, cols int, add float32, accumulate bool)
	dot                         func(a, b []float32) float32
	sum, maximum, maxAbs        func(a []float32) float32
	addOuter                    func(sum []int32, x []float32, m int, y []float32, n, down, up int, grid float32)
	transpose                   func(dst []float32, ldd int, a []float32, lda, rows, cols int)
	copyPatches, addPatches     func(col, img []float32, g patches)
	maxPool                     func(dst []float32, arg []int32, img []float32, g windows)
	gatherRows                  func(dst, table []float32, rows []int32, k int)
	repeat                      func(dst, a []float32, n int)
	addEachRow                  func(dst, a []float32)
	addToRows                   func(sum []int32, rows []int32, x float32, y []float32, k int, at []int32, grid float32)
	addUnits                    func(total []float64, units []int32)
	release                     func(mean, sum []float64, c *NoisyMean)
	releaseUnits                func(mean []float64, units []int32, c *NoisyMean)
	sgd                         func(params []float32, gradient []float64, rate float64)
	adam                        func(params, first, second []float32, gradient []float64, c *AdamStep)
}

// plain is the definition of every kernel in a table.
var plain = table{
	name: "plain", product: product{"plain", gemmPlain},
	add: addPlain, sub: subPlain, mul: mulPlain, div: divPlain,
	addScalar: addScalarPlain, mulScalar: mulScalarPlain,
	subFromScalar: subFromScalarPlain, divScalarBy: divScalarByPlain, mulAdd: mulAddPlain,
	square: squarePlain, neg: negPlain, abs: absPlain, sqrt: sqrtPlain,
	larger: largerPlain, smaller: smallerPlain, atLeast: atLeastPlain,
	largerScalar: largerScalarPlain, smallerScalar: smallerScalarPlain, atLeastScalar: atLeastScalarPlain, atMostScalar: atMostScalarPlain,
	dropout: dropoutPlain, addDropout: addDropoutPlain,
	exp: expPlain, tanh: tanhPlain, sigmoid: sigmoidPlain, log: logPlain,
	normalize: plainRows.normalize, normalizeBackward: plainRows.normalizeBackward,
	dot: dotPlain, sum: sumPlain, maximum: maximumPlain, maxAbs: maxAbsPlain,
	addOuter:    addOuterPlain,
	transpose:   transposePlain,
	copyPatches: copyPatchesPlain, addPatches: addPatchesPlain,
	maxPool:    maxPoolPlain,
	gatherRows: gatherRowsPlain, repeat: repeatPlain, addEachRow: addEachRowPlain, addToRows: addToRowsPlain,
	addUnits: addUnitsPlain, release: releasePlain, releaseUnits: releaseUnitsPlain, sgd: sgdPlain, adam: adamPlain,
}

// active is the table that the exported functions call: the last, and fastest, that this processor can run. Nothing
// changes it after start-up.
var active = func() *table {
	all := tables()
	return all[len(all)-1]
}()
