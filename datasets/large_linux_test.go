package datasets

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// Linux backs the middle of a large slice by huge pages, and slices of all sizes are zeros.
func TestLargeSlices(t *testing.T) {
	for _, n := range []int{0, 1, 1<<20 - 1, 1 << 20, 5<<20 + 3} { // 2^20 values are two huge pages
		values := makeLarge[float32](n)
		if len(values) != n || slices.ContainsFunc(values, func(x float32) bool { return x != 0 }) {
			t.Errorf("%d values: not %d zeros", len(values), n)
		}
	}
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("needs a kernel with huge pages")
	}
	values := makeLarge[float32](5 << 20)
	if middle := &values[len(values)/2]; !slices.Contains(mapping(t, uintptr(unsafe.Pointer(middle))), "hg") {
		t.Error("no huge pages were asked for")
	}
}

// mapping returns the flags of the mapping that has an address.
func mapping(t *testing.T, address uintptr) []string {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	inside := false
	for line := range strings.Lines(string(maps)) {
		var first, last uintptr
		if n, _ := fmt.Sscanf(line, "%x-%x ", &first, &last); n == 2 {
			inside = first <= address && address < last
		}
		if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && inside {
			return strings.Fields(flags)
		}
	}
	t.Skip("the kernel reports no flags of mappings")
	return nil
}
