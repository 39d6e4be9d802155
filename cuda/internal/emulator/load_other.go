//go:build !((darwin || freebsd || linux || netbsd) && !android)

package emulator

import (
	"errors"
	"fmt"
	"runtime"
)

func load(string) (uintptr, error) {
	return 0, fmt.Errorf("%w on %s", errors.ErrUnsupported, runtime.GOOS)
}

func find(uintptr, string) (uintptr, error) {
	return 0, errors.ErrUnsupported
}
