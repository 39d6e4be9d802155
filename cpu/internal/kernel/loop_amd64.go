package kernel

// The loops in assembly. Each has a twin with the same name, ending in Plain.

func addAVX2(dst, a, b []float32)
func subAVX2(dst, a, b []float32)
func mulAVX2(dst, a, b []float32)
func divAVX2(dst, a, b []float32)
func mulAddAVX2(dst, a, b []float32)
func addScalarAVX2(dst, a []float32, s float32)
func mulScalarAVX2(dst, a []float32, s float32)
func subFromScalarAVX2(dst, a []float32, s float32)
func divScalarByAVX2(dst, a []float32, s float32)
func squareAVX2(dst, a []float32)
func negAVX2(dst, a []float32)
func absAVX2(dst, a []float32)
func sqrtAVX2(dst, a []float32)
func expAVX2(dst, a []float32)
func tanhAVX2(dst, a []float32)
func sigmoidAVX2(dst, a []float32)
func logAVX2(dst, a []float32)

func addAVX512(dst, a, b []float32)
func subAVX512(dst, a, b []float32)
func mulAVX512(dst, a, b []float32)
func divAVX512(dst, a, b []float32)
func mulAddAVX512(dst, a, b []float32)
func addScalarAVX512(dst, a []float32, s float32)
func mulScalarAVX512(dst, a []float32, s float32)
func subFromScalarAVX512(dst, a []float32, s float32)
func divScalarByAVX512(dst, a []float32, s float32)
func squareAVX512(dst, a []float32)
func negAVX512(dst, a []float32)
func absAVX512(dst, a []float32)
func sqrtAVX512(dst, a []float32)
func expAVX512(dst, a []float32)
func tanhAVX512(dst, a []float32)
func sigmoidAVX512(dst, a []float32)
func logAVX512(dst, a []float32)

func dotAVX2(a, b []float32) float32
func sumAVX2(a []float32) float32
func maximumAVX2(a []float32) float32
func maxAbsAVX2(a []float32) float32

func dotAVX512(a, b []float32) float32
func sumAVX512(a []float32) float32
func maximumAVX512(a []float32) float32
func maxAbsAVX512(a []float32) float32

func largerAVX2(dst, a, b []float32)
func smallerAVX2(dst, a, b []float32)
func atLeastAVX2(dst, a, b []float32)
func largerScalarAVX2(dst, a []float32, s float32)
func smallerScalarAVX2(dst, a []float32, s float32)
func atLeastScalarAVX2(dst, a []float32, s float32)
func atMostScalarAVX2(dst, a []float32, s float32)
func dropoutAVX2(dst, a []float32, draws []uint64, maximum uint32, keep float32)
func addDropoutAVX2(dst, a []float32, draws []uint64, maximum uint32, keep float32)

func largerAVX512(dst, a, b []float32)
func smallerAVX512(dst, a, b []float32)
func atLeastAVX512(dst, a, b []float32)
func largerScalarAVX512(dst, a []float32, s float32)
func smallerScalarAVX512(dst, a []float32, s float32)
func atLeastScalarAVX512(dst, a []float32, s float32)
func atMostScalarAVX512(dst, a []float32, s float32)
func dropoutAVX512(dst, a []float32, draws []uint64, maximum uint32, keep float32)
func addDropoutAVX512(dst, a []float32, draws []uint64, maximum uint32, keep float32)
