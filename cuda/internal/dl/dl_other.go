//go:build !((darwin || freebsd || linux || netbsd) && !android) && !windows

package dl

import "errors"

// Open fails: libraries can't be opened on this system.
func Open(string, bool) (uintptr, error) { return 0, errors.ErrUnsupported }

// Symbol fails as well.
func Symbol(uintptr, string) (uintptr, error) { return 0, errors.ErrUnsupported }
