package kernel

import "sync"

// scratch is working memory for one call. Borrowed memory has unspecified contents.
type scratch struct{ floats []float32 }

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func borrow(n int) *scratch {
	s := scratches.Get().(*scratch)
	if cap(s.floats) < n {
		s.floats = make([]float32, n)
	}
	s.floats = s.floats[:n]
	return s
}

func (s *scratch) giveBack() { scratches.Put(s) }
