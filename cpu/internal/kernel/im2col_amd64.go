package kernel

// copyRowsAVX2 and addRowsAVX2 are copyPatches and addPatches for a kernel without horizontal dilation
// and at most eight columns wide.
//
//go:noescape
func copyRowsAVX2(col, img *float32, geometry *patches)

//go:noescape
func addRowsAVX2(col, img *float32, geometry *patches)

func copyPatchesAVX2(col, img []float32, g patches) {
	if g.dilW > 1 || g.kw > 8 || len(col) == 0 {
		copyPatchesPlain(col, img, g)
		return
	}
	copyRowsAVX2(&col[0], &img[0], &g)
}

func addPatchesAVX2(col, img []float32, g patches) {
	if g.dilW > 1 || g.kw > 8 || len(col) == 0 {
		addPatchesPlain(col, img, g)
		return
	}
	addRowsAVX2(&col[0], &img[0], &g)
}
