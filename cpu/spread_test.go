package cpu

import (
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/enginetest"
)

// A view of one element of a parameter gets the whole gradient there, and the other elements get none.
func TestGradientOfOnePlace(t *testing.T) {
	bias := func(strides ...int) []int32 {
		p := enginetest.Zoo()["bias used twice"].Program(t, 1)
		for i := range p.Backward {
			if in := &p.Backward[i]; in.Op == compile.GradSpread && len(strides) > 0 {
				in.View.Strides = strides
			}
		}
		l, err := lower(p)
		if err != nil {
			t.Fatal(err)
		}
		b, sum := l.bind(), emptySum(l)
		b.set(p.Initial())
		b.coins = []uint32{0}
		if err := l.workspace().clipped(b, enginetest.RandomData(p, 1, 1), []int32{0}, 16, sum, make([]float64, 1)); err != nil {
			t.Fatal(err)
		}
		return sum.parts[1]
	}
	whole, one := bias(), bias(0)
	want := int32(0)
	for _, v := range whole {
		want += v
	}
	if d := one[0] - want; d > 16 || d < -16 { // 2⁻¹⁴
		t.Errorf("the one place gets %v of %v", one[0], want)
	}
	for _, v := range one[1:] {
		if v != 0 {
			t.Errorf("other places get %v", one[1:])
		}
	}
}
