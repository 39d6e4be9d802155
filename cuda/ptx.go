package cuda

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"io/fs"

	"github.com/dptrain/dptrain/cuda/internal/driver"
)

// ptxFiles holds the kernels for NVIDIA's driver, made by cuda/kernels/build: PTX, which the driver compiles for any
// card, and machine code for some cards.
//
//go:embed kernels/ptx/*.ptx kernels/ptx/*.gz
var ptxFiles embed.FS

// images returns the kernels' PTX, a module for each source file: kernels inline their functions, so they would share
// nothing in one module.
func images() ([][]byte, error) { return read("kernels/ptx/*.ptx") }

// machineCode returns the kernels' machine code for a device, a module for each source file, or nil if there is none.
// Code for compute capability 8.0 runs on 8.6, too, but not on 9.0.
func machineCode(i Info) ([][]byte, error) {
	arch := map[int]int{7: 75, 8: 80, 9: 90, 10: 100, 12: 120}[i.Major]
	if arch == 0 || 10*i.Major+i.Minor < arch {
		return nil, nil
	}
	files, err := read(fmt.Sprintf("kernels/ptx/*.sm_%d.gz", arch))
	if err != nil {
		return nil, err
	}
	for k, file := range files {
		r, err := gzip.NewReader(bytes.NewReader(file))
		if err != nil {
			return nil, err
		}
		if files[k], err = io.ReadAll(r); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// read returns the files of a pattern.
func read(pattern string) ([][]byte, error) {
	names, err := fs.Glob(ptxFiles, pattern)
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

// load opens a device with the kernels' machine code, or, if there is none for it or its driver refuses it, with their
// PTX. The driver then takes some seconds to compile it, and keeps the result for the next process.
func load(s driver.System, device int, i Info, ptx [][]byte) (driver.Device, error) {
	code, err := machineCode(i)
	if err != nil {
		return nil, err
	}
	if code != nil {
		if d, err := s.Open(device, code...); err == nil {
			return d, nil
		}
	}
	return s.Open(device, ptx...)
}
