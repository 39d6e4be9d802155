package kernel

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// newArena puts a page that faults on any access on either side of the arena.
func newArena(t testing.TB) *arena {
	page := unix.Getpagesize()
	size := arenaSize * 4
	memory, err := unix.Mmap(-1, 0, size+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatalf("map arena: %v", err)
	}
	t.Cleanup(func() { unix.Munmap(memory) })
	for _, fence := range [][]byte{memory[:page], memory[page+size:]} {
		if err := unix.Mprotect(fence, unix.PROT_NONE); err != nil {
			t.Fatalf("protect fence: %v", err)
		}
	}
	return &arena{memory: unsafe.Slice((*float32)(unsafe.Pointer(&memory[page])), arenaSize)}
}
