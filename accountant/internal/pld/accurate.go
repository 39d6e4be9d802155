package pld

// accurate is a sum with an error of about one rounding.
type accurate struct{ sum, rest float64 }

func (a *accurate) add(x float64) {
	t := a.sum + x
	if a.sum >= x {
		a.rest += (a.sum - t) + x
	} else {
		a.rest += (x - t) + a.sum
	}
	a.sum = t
}

func (a accurate) plus(x float64) float64 { a.add(x); return a.value() }
func (a accurate) value() float64         { return a.sum + a.rest }
