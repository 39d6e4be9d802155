//go:build !((darwin || freebsd || linux || netbsd) && !android)

package emulator

import "errors"

// purego can't open libraries here.
const loadable = false

func load(string) (uintptr, error) { return 0, errors.ErrUnsupported }

func find(uintptr, string) (uintptr, error) { return 0, errors.ErrUnsupported }
