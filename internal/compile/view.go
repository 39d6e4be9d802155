package compile

import "slices"

// View says how the elements of a value are walked: in row-major order of Shape, element (i, j, …) being at Offset +
// i·Strides[0] + j·Strides[1] + …. A stride of 0 repeats an axis; to add along a view with one is to sum over it.
type View struct {
	Offset         int
	Shape, Strides []int
}

// ViewOf returns the view that walks a whole value of the given shape as it lies.
func ViewOf(shape []int) View {
	v := View{Shape: slices.Clone(shape), Strides: make([]int, len(shape))}
	n := 1
	for d, s := range slices.Backward(shape) {
		v.Strides[d] = n
		n *= s
	}
	return v
}

// Size returns the number of elements that are walked, or 0 if the shape isn't one.
func (v View) Size() int { return size(v.Shape...) }

// Elements returns the place of every element in the order of the walk.
func (v View) Elements() []int32 {
	out := make([]int32, 0, v.Size())
	index, at := make([]int, len(v.Shape)), v.Offset
	for range cap(out) {
		out = append(out, int32(at))
		for d, s := range slices.Backward(v.Shape) {
			index[d]++
			at += v.Strides[d]
			if index[d] < s {
				break
			}
			index[d] = 0
			at -= s * v.Strides[d]
		}
	}
	return out
}

// Contiguous tells whether the view walks a value of its own size as it lies.
func (v View) Contiguous() bool {
	n := 1
	for d, s := range slices.Backward(v.Shape) {
		if s > 1 && v.Strides[d] != n {
			return false
		}
		n *= s
	}
	return v.Offset == 0
}

// within tells whether all elements are inside a value of the given size.
func (v View) within(n int) bool {
	if len(v.Shape) != len(v.Strides) || v.Size() == 0 || v.Offset < 0 || v.Offset >= n {
		return false
	}
	last := v.Offset
	for d, s := range v.Shape {
		if v.Strides[d] < 0 || s > 1 && v.Strides[d] > n {
			return false
		}
		if s == 1 {
			continue
		}
		if last += (s - 1) * v.Strides[d]; last >= n { // both are below 2³¹: it doesn't overflow
			return false
		}
	}
	return true
}

// permuted returns the view with its axes in another order.
func (v View) permuted(axes []int) View {
	return View{v.Offset, permuted(v.Shape, axes), permuted(v.Strides, axes)}
}

// repeated returns the view with an axis of length one walked over and over.
func (v View) repeated(axis, times int) View {
	out := View{v.Offset, slices.Clone(v.Shape), slices.Clone(v.Strides)}
	out.Shape[axis], out.Strides[axis] = times, 0
	return out
}

// without returns the view without an axis of length one.
func (v View) without(axis int) View {
	return View{v.Offset, slices.Delete(slices.Clone(v.Shape), axis, axis+1), slices.Delete(slices.Clone(v.Strides), axis, axis+1)}
}

// times returns the view walked over and over, by a new first axis.
func (v View) times(n int) View {
	return View{v.Offset, slices.Concat([]int{n}, v.Shape), slices.Concat([]int{0}, v.Strides)}
}

// sliced returns the view of n elements of an axis, from one on in steps.
func (v View) sliced(axis, from, n, step int) View {
	out := View{v.Offset + from*v.Strides[axis], slices.Clone(v.Shape), slices.Clone(v.Strides)}
	out.Shape[axis], out.Strides[axis] = n, step*v.Strides[axis]
	return out
}

// reshaped returns the same walk in another shape, as far as strides can say it: axes of both shapes are taken together
// until they are as long, and the old ones must then be walked as one.
func (v View) reshaped(shape []int) (View, bool) {
	if size(shape...) != v.Size() {
		return View{}, false
	}
	out := View{v.Offset, slices.Clone(shape), make([]int, len(shape))}
	var from, strides []int // without axes of length one, whose stride says nothing
	for d, s := range v.Shape {
		if s > 1 {
			from, strides = append(from, s), append(strides, v.Strides[d])
		}
	}
	for i, j := 0, 0; i < len(from); {
		firstOld, firstNew := i, j
		old, now := 1, 1
		for old == 1 || old != now { // sizes are equal: neither runs out before they are
			if old <= now {
				old *= from[i]
				i++
			} else {
				now *= shape[j]
				j++
			}
		}
		for d := firstOld; d+1 < i; d++ {
			if strides[d] != from[d+1]*strides[d+1] {
				return View{}, false
			}
		}
		stride := strides[i-1]
		for d := j - 1; d >= firstNew; d-- {
			out.Strides[d] = stride
			stride *= shape[d]
		}
	}
	return out, true
}

// size returns the number of elements of a shape, or 0 if it isn't one: lengths below 1, or more than 2³¹ elements.
func size(shape ...int) int {
	n := 1
	for _, s := range shape {
		if s < 1 || s > maxSize/n {
			return 0
		}
		n *= s
	}
	return n
}

const maxSize = 1<<31 - 1
