package cuda

import (
	"embed"
	"io/fs"
)

// ptxFiles holds the kernels as NVIDIA's driver takes them, made by cuda/kernels/build.
//
//go:embed kernels/ptx/*.ptx
var ptxFiles embed.FS

// images returns the kernels' PTX, a module for each source file.
func images() ([][]byte, error) {
	names, err := fs.Glob(ptxFiles, "kernels/ptx/*.ptx")
	if err != nil {
		return nil, err
	}
	var out [][]byte
	for _, name := range names {
		text, err := ptxFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}
