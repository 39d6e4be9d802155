package table

import (
	"encoding/csv"
	"fmt"
	"math"
	"runtime/debug"
	"strings"
	"unsafe"

	"github.com/dptrain/dptrain/internal/memory"
	"github.com/dptrain/dptrain/internal/show"
)

// maxUnpacked returns the number of bytes that a Parquet file of size bytes may unpack to, by the claims of its
// headers: a flipped bit in a header took 2.8 GB. Data rarely need a tenth of the limit.
func maxUnpacked(size int64) int64 {
	return max(256<<20, 200*min(size, math.MaxInt64/200))
}

// megabytes prints a number of bytes.
func megabytes[T int64 | uint64](n T) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d MB", n>>20)
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
		return problemf("its rows take %s more memory, and the machine has %s left; use a machine with more, or fewer rows or columns", megabytes(bytes), megabytes(free))
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

// flagList writes at most 20 names as a list for a flag, in which a name with a comma stands in double quotes.
func flagList(names []string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(names[:min(len(names), 20)]) // to memory
	w.Flush()
	return show.Quoted(strings.TrimSuffix(b.String(), "\n"))
}

// quotedNames lists names for a private text.
func quotedNames(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = textCell(name).quoted()
	}
	return listed(quoted)
}
