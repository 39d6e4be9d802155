package driver

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArguments(t *testing.T) {
	got, err := Arguments(Pointer(1<<40), int32(-2), uint32(math.MaxUint32), int64(-3), uint64(4), float32(1), 1.0,
		StructOf(&struct {
			p Pointer
			n [2]int32
		}{7, [2]int32{1, -1}}))
	if err != nil {
		t.Fatal(err)
	}
	want := []Argument{
		{KindPointer, []uint64{1 << 40}}, {KindInt32, []uint64{0xfffffffe}}, {KindUint32, []uint64{0xffffffff}}, {KindInt64, []uint64{math.MaxUint64 - 2}},
		{KindUint64, []uint64{4}}, {KindFloat32, []uint64{0x3f800000}}, {KindFloat64, []uint64{0x3ff0000000000000}}, {KindStruct, []uint64{7, 0xffffffff00000001}},
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
