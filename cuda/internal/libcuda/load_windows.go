package libcuda

import "syscall"

// systemNames are what the driver's library is called.
var systemNames = []string{"nvcuda.dll"}

func load(name string) (uintptr, error) {
	h, err := syscall.LoadLibrary(name)
	return uintptr(h), err
}

func symbol(library uintptr, name string) (uintptr, error) {
	return syscall.GetProcAddress(syscall.Handle(library), name)
}
