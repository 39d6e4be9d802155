//go:build (darwin || freebsd || linux || netbsd) && !android

package libcuda

import "github.com/ebitengine/purego"

// systemNames are what the driver's library is called.
var systemNames = []string{"libcuda.so.1", "libcuda.so"}

func load(name string) (uintptr, error) {
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL)
}

func symbol(library uintptr, name string) (uintptr, error) { return purego.Dlsym(library, name) }
