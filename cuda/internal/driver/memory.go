package driver

import (
	"errors"
	"fmt"
)

// ErrFree reports that a device failed to free memory.
var ErrFree = errors.New("give memory back")

// Memory is a set of allocations on a device that are freed together.
type Memory struct {
	Device Device
	held   []Pointer
}

// Alloc allocates memory, at least 8 bytes: kernels take no null pointers.
func (m *Memory) Alloc(bytes int) (Pointer, error) {
	p, err := m.Device.Alloc(max(bytes, 8))
	if err == nil {
		m.held = append(m.held, p)
	}
	return p, err
}

// Cleared allocates memory of zeros.
func (m *Memory) Cleared(bytes int) (Pointer, error) {
	p, err := m.Alloc(bytes)
	if err != nil {
		return 0, err
	}
	return p, m.Device.Clear(p, 0, max(bytes, 8))
}

// Put allocates memory for numbers and uploads them.
func Put[T Number](m *Memory, numbers []T) (Pointer, error) {
	if len(numbers) == 0 {
		return m.Alloc(0)
	}
	p, err := New(m.Device, numbers)
	if err == nil {
		m.held = append(m.held, p)
	}
	return p, err
}

// Join moves the allocations of other, which must be on the same device, to m.
func (m *Memory) Join(other Memory) { m.held = append(m.held, other.held...) }

// Free frees all allocations. The error wraps [ErrFree] and is the first one, since a lost device returns the same
// error for each call.
func (m *Memory) Free() error {
	var first error
	for _, p := range m.held {
		if err := m.Device.Free(p); err != nil && first == nil {
			first = fmt.Errorf("%w: %w", ErrFree, err)
		}
	}
	m.held = nil
	return first
}

// Halve calls allocate with n, n/2, n/4, … until it doesn't run out of memory, and returns the number of the call that
// succeeded.
func Halve(n int, allocate func(int) error) (int, error) {
	for {
		err := allocate(n)
		if err == nil || n <= 1 || !errors.Is(err, ErrOutOfMemory) {
			return n, err
		}
		n /= 2
	}
}
