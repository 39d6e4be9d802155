//go:build cu

package cuda

import (
	"github.com/dptrain/dptrain/cuda/internal/cu"
	"github.com/dptrain/dptrain/cuda/internal/driver"
)

// system returns this machine's driver, which this program is linked with: without a driver it would have ended by now.
func system() (driver.System, error) { return cu.System{}, nil }
