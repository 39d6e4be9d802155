//go:build !cu

package cuda

import (
	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/cuda/internal/libcuda"
)

// system opens this machine's driver: its own library, at run time.
func system() (driver.System, error) {
	l, err := libcuda.System()
	if err != nil {
		return nil, err
	}
	return l, nil
}
