package driver

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArguments(t *testing.T) {
	got, err := Arguments(Pointer(1<<40), int32(-2), uint32(math.MaxUint32), int64(-3), uint64(4), float32(1), 1.0)
	if err != nil {
		t.Fatal(err)
	}
	want := []Argument{
		{KindPointer, 1 << 40}, {KindInt32, 0xfffffffe}, {KindUint32, 0xffffffff}, {KindInt64, math.MaxUint64 - 2},
		{KindUint64, 4}, {KindFloat32, 0x3f800000}, {KindFloat64, 0x3ff0000000000000},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestArgumentsOfOtherTypesAreNamed(t *testing.T) {
	for _, bad := range []any{7, uint8(7), "seven", nil, []float32{7}, uintptr(7)} {
		_, err := Arguments(int32(0), bad)
		if err == nil || !strings.Contains(err.Error(), "argument 1 is of type ") {
			t.Errorf("%T: error %v", bad, err)
		}
	}
}
