package kernels

import "embed"

// Files are the kernels and all that they include.
//
//go:embed *.cu* *.h
var Files embed.FS
