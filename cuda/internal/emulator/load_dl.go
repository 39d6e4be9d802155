//go:build (darwin || freebsd || linux || netbsd) && !android

package emulator

import "github.com/ebitengine/purego"

const loadable = true

func load(file string) (uintptr, error) {
	return purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func find(library uintptr, name string) (uintptr, error) {
	return purego.Dlsym(library, name)
}
