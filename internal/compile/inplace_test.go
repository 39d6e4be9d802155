package compile

import "testing"

// A view whose last position overflows, because of a long stride, isn't inside any value.
func TestViewsDontOverflow(t *testing.T) {
	for _, v := range []View{
		{Shape: []int{3}, Strides: []int{1 << 62}}, {Shape: []int{5}, Strides: []int{1 << 62}}, {Shape: []int{1 << 20}, Strides: []int{1 << 44}},
	} {
		if v.within(10) {
			t.Errorf("%v is inside ten elements", v)
		}
	}
}

// An operation may run in place, on any engine, if element j of its result depends on elements j alone.
func TestInPlaceIsElementwise(t *testing.T) {
	for op := range opEnd {
		want := map[Op]bool{Unary: true, Binary: true, BinaryScalar: true, UnaryBack: true, BinaryBack: true, ScalarBack: true}[op]
		if got := opTable[op].inPlace; got != want {
			t.Errorf("%v in place: %v", op, got)
		}
	}
}
