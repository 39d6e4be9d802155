package compile

import "testing"

// A stride so long that the walk's end overflows is outside all the same.
func TestViewsDontOverflow(t *testing.T) {
	for _, v := range []View{
		{Shape: []int{3}, Strides: []int{1 << 62}}, {Shape: []int{5}, Strides: []int{1 << 62}}, {Shape: []int{1 << 20}, Strides: []int{1 << 44}},
	} {
		if v.within(10) {
			t.Errorf("%v is inside ten elements", v)
		}
	}
}

// What may be computed in place, on whatever engine: element j of the result depends on elements j alone.
func TestInPlaceIsElementwise(t *testing.T) {
	for op := range opEnd {
		want := map[Op]bool{Unary: true, Binary: true, BinaryScalar: true, UnaryBack: true, BinaryBack: true, ScalarBack: true}[op]
		if got := table[op].inPlace; got != want {
			t.Errorf("%v in place: %v", op, got)
		}
	}
}
