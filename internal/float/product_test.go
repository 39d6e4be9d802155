package float

import "testing"

// Subnormal products are rounded up too, by mpmath with 800 digits.
func TestProductUp(t *testing.T) {
	if p := ProductUp(1e-200, 7.3e-124); p < 7.3e-324 {
		t.Errorf("1e-200 times 7.3e-124 is %v, rounded up", p)
	}
	if p := ProductUp(0.5, 0.25); p != 0.125 {
		t.Errorf("an exact product is %v", p)
	}
	if p := ProductUp(0, 1e-300); p != 0 {
		t.Errorf("0 times a rate is %v", p)
	}
}
