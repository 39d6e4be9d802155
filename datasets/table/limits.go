package table

import (
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"strings"
	"unsafe"

	"github.com/dptrain/dptrain/internal/memory"
)

// Bounds of what a packed file may unpack to: one of a few kilobytes can fill a disk. Data rarely come to a tenth of
// these.
const (
	minUnpacked = 256 << 20 // bytes, for any file
	maxRatio    = 200       // and times the size of the file
)

// maxUnpacked returns the number of bytes that a file of size bytes may unpack to.
func maxUnpacked(size int64) int64 {
	return max(minUnpacked, maxRatio*min(size, math.MaxInt64/maxRatio))
}

// overUnpacked returns the error of a file that unpacks to more, with a remedy for a file that is meant to.
func overUnpacked(size int64, remedy string) *Error {
	return problemf("the file unpacks to more than %s, the most for a packed file of %s; if it is meant to, %s", megabytes(maxUnpacked(size)), megabytes(size), remedy)
}

// megabytes prints a number of bytes.
func megabytes[T int64 | uint64](n T) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d MB", n>>20)
}

// limited reads the contents of a compressed file of size bytes, up to maxUnpacked.
type limited struct {
	r          io.Reader
	left, size int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		if n, err := l.r.Read(make([]byte, 1)); n == 0 {
			return 0, err
		}
		return 0, overUnpacked(l.size, "unpack it by gunzip and give the result")
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}

// available is memory.Available, except in tests.
var available = memory.Available

// checkMemory returns an error if the machine lacks memory for an allocation: the system would kill the program without
// a message.
func checkMemory(bytes int64) error {
	free, known := available()
	if known && uint64(bytes) > free {
		debug.FreeOSMemory() // outgrown lists may not be returned yet
		free, known = available()
	}
	if known && uint64(bytes) > free {
		return problemf("its rows take %s more memory, and the machine has %s left; use a machine with more, or leave out columns by --ignore", megabytes(bytes), megabytes(free))
	}
	return nil
}

// firstValues is the initial capacity of a list of unknown length.
const firstValues = 1 << 12

// grown returns a list with capacity for n more values. It grows by a quarter, or to the known length.
func grown[T any](list []T, n, known int) ([]T, error) {
	need := len(list) + n
	if need <= cap(list) {
		return list, nil
	}
	want := max(need, known, len(list)+len(list)/4, firstValues)
	if err := checkMemory(int64(want) * int64(unsafe.Sizeof(*new(T)))); err != nil {
		return list, err
	}
	return append(make([]T, 0, want), list...), nil
}

// quotedNames lists names for a private text.
func quotedNames(names []string) string {
	const most = 20
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
		names = names[:most]
	}
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = textCell(name).quoted()
	}
	return strings.Join(quoted, ", ") + more
}
