//go:build !((darwin || freebsd || linux || netbsd) && !android) && !windows

package libcuda

import "errors"

var systemNames = []string{"libcuda.so"}

func load(string) (uintptr, error) { return 0, errors.New("libraries can't be opened on this system") }

func symbol(uintptr, string) (uintptr, error) { return 0, errors.New("no library") }
