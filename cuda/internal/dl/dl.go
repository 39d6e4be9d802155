//go:build (darwin || freebsd || linux || netbsd) && !android

package dl

import "github.com/ebitengine/purego"

// Open opens a library, by file or by name. It is never closed. If global is set, libraries that are opened later see
// its symbols. Otherwise they don't, so that two builds of the same kernels don't mix.
func Open(library string, global bool) (handle uintptr, err error) {
	if global {
		return purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	}
	return purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// Symbol returns the address of a symbol of a library.
func Symbol(handle uintptr, name string) (uintptr, error) { return purego.Dlsym(handle, name) }
