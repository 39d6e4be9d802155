package dl

import "syscall"

// Open opens a library, by file or by name. It stays open for good. Symbols are not shared between
// libraries on this system, so global changes nothing.
func Open(library string, global bool) (handle uintptr, err error) {
	h, err := syscall.LoadLibrary(library)
	return uintptr(h), err
}

// Symbol returns the address of a symbol of a library.
func Symbol(handle uintptr, name string) (uintptr, error) {
	return syscall.GetProcAddress(syscall.Handle(handle), name)
}
