package kernels

import "embed"

// PTX are the kernels as NVIDIA's driver takes them, made by the script build.
//
//go:embed ptx/*.ptx
var PTX embed.FS
