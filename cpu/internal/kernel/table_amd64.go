package kernel

import "golang.org/x/sys/cpu"

// tables returns the tables that this processor can run, slowest first.
func tables() []*table {
	all := []*table{&plain}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		all = append(all, &avx2)
		if cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL {
			all = append(all, &avx512)
		}
	}
	return all
}

var avx2 = table{
	name: "avx2", product: product{"avx2", gemmAVX2},
	add: addAVX2, sub: subAVX2, mul: mulAVX2, div: divAVX2,
	addScalar: addScalarAVX2, mulScalar: mulScalarAVX2, subFromScalar: subFromScalarAVX2,
	divScalarBy: divScalarByAVX2, mulAdd: mulAddAVX2,
	square: squareAVX2, neg: negAVX2, abs: absAVX2, sqrt: sqrtAVX2,
	larger: largerAVX2, smaller: smallerAVX2, atLeast: atLeastAVX2,
	largerScalar: largerScalarAVX2, smallerScalar: smallerScalarAVX2, atLeastScalar: atLeastScalarAVX2, atMostScalar: atMostScalarAVX2,
	dropout: dropoutAVX2, addDropout: addDropoutAVX2,
	exp: expAVX2, tanh: tanhAVX2, sigmoid: sigmoidAVX2, log: logAVX2,
	normalize: avx2Rows.normalize, normalizeBackward: avx2Rows.normalizeBackward,
	dot: dotAVX2, sum: sumAVX2, maximum: maximumAVX2, maxAbs: maxAbsAVX2,
	addOuter:    addOuterAVX2,
	transpose:   transposeAVX2,
	copyPatches: copyPatchesAVX2, addPatches: addPatchesAVX2,
	maxPool:    maxPoolAVX2,
	gatherRows: gatherRowsAVX2, repeat: repeatAVX2, addEachRow: addEachRowAVX2, addToRows: addToRowsAVX2,
	addUnits: addUnitsBy(4, addUnits4), release: releaseBy(4, release4), releaseUnits: releaseUnitsBy(4, releaseUnits4),
	sgd: sgdBy(4, sgd4), adam: adamBy(4, adam4),
}

var avx512 = table{
	name: "avx512", product: product{"avx512", gemmAVX512},
	add: addAVX512, sub: subAVX512, mul: mulAVX512, div: divAVX512,
	addScalar: addScalarAVX512, mulScalar: mulScalarAVX512, subFromScalar: subFromScalarAVX512,
	divScalarBy: divScalarByAVX512, mulAdd: mulAddAVX512,
	square: squareAVX512, neg: negAVX512, abs: absAVX512, sqrt: sqrtAVX512,
	larger: largerAVX512, smaller: smallerAVX512, atLeast: atLeastAVX512,
	largerScalar: largerScalarAVX512, smallerScalar: smallerScalarAVX512, atLeastScalar: atLeastScalarAVX512, atMostScalar: atMostScalarAVX512,
	dropout: dropoutAVX512, addDropout: addDropoutAVX512,
	exp: expAVX512, tanh: tanhAVX512, sigmoid: sigmoidAVX512, log: logAVX512,
	normalize: normalizeAVX512, normalizeBackward: normalizeBackwardAVX512,
	dot: dotAVX512, sum: sumAVX512, maximum: maximumAVX512, maxAbs: maxAbsAVX512,
	addOuter:    addOuterAVX512,
	transpose:   transposeAVX2,
	copyPatches: copyPatchesAVX2, addPatches: addPatchesAVX2,
	maxPool:    maxPoolAVX2,
	gatherRows: gatherRowsAVX512, repeat: repeatAVX512, addEachRow: addEachRowAVX512, addToRows: addToRowsAVX512,
	addUnits: addUnitsBy(8, addUnits8), release: releaseBy(8, release8), releaseUnits: releaseUnitsBy(8, releaseUnits8),
	sgd: sgdBy(8, sgd8), adam: adamBy(8, adam8),
}
