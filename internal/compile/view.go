package compile

import "slices"

// View maps an element (i, j, …) of Shape, in row-major order, to the position Offset + i·Strides[0] + j·Strides[1] + …
// of the viewed value. A stride of 0 repeats an axis on reading, and sums over it on adding.
type View struct {
	Offset         int
	Shape, Strides []int
}

// ViewOf returns the view of a whole value of the given shape.
func ViewOf(shape []int) View {
	v := View{Shape: slices.Clone(shape), Strides: make([]int, len(shape))}
	n := 1
	for d, s := range slices.Backward(shape) {
		v.Strides[d] = n
		n *= s
	}
	return v
}

// Size returns the view's number of elements, or 0 if Shape isn't a valid shape.
func (v View) Size() int { return size(v.Shape...) }

// Elements returns the positions of all elements in order.
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

// contiguous reports whether element j is at position j for all j.
func (v View) contiguous() bool {
	n := 1
	for d, s := range slices.Backward(v.Shape) {
		if s > 1 && v.Strides[d] != n {
			return false
		}
		n *= s
	}
	return v.Offset == 0
}

// within reports whether all elements are inside a value of size n.
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
		if last += (s - 1) * v.Strides[d]; last >= n { // both are below 2³¹: no overflow
			return false
		}
	}
	return true
}

// permuted returns the view with its axes in another order.
func (v View) permuted(axes []int) View {
	return View{v.Offset, permuted(v.Shape, axes), permuted(v.Strides, axes)}
}

// repeated returns the view with an axis of length one repeated times times.
func (v View) repeated(axis, times int) View {
	out := View{v.Offset, slices.Clone(v.Shape), slices.Clone(v.Strides)}
	out.Shape[axis], out.Strides[axis] = times, 0
	return out
}

// without returns the view without an axis of length one.
func (v View) without(axis int) View {
	return View{v.Offset, slices.Delete(slices.Clone(v.Shape), axis, axis+1), slices.Delete(slices.Clone(v.Strides), axis, axis+1)}
}

// times returns the view repeated n times, along a new first axis.
func (v View) times(n int) View {
	return View{v.Offset, slices.Concat([]int{n}, v.Shape), slices.Concat([]int{0}, v.Strides)}
}

// sliced returns the view of n elements of an axis: from, from+step, ….
func (v View) sliced(axis, from, n, step int) View {
	out := View{v.Offset + from*v.Strides[axis], slices.Clone(v.Shape), slices.Clone(v.Strides)}
	out.Shape[axis], out.Strides[axis] = n, step*v.Strides[axis]
	return out
}

// reshaped returns a view of the same positions in another shape, and false if no strides describe it. It matches
// groups of axes of both shapes with the same number of elements; the old axes of a group must be contiguous with each
// other.
func (v View) reshaped(shape []int) (View, bool) {
	if size(shape...) != v.Size() {
		return View{}, false
	}
	out := View{v.Offset, slices.Clone(shape), make([]int, len(shape))}
	var from, strides []int // without axes of length one, whose strides don't matter
	for d, s := range v.Shape {
		if s > 1 {
			from, strides = append(from, s), append(strides, v.Strides[d])
		}
	}
	for i, j := 0, 0; i < len(from); {
		firstOld, firstNew := i, j
		old, now := 1, 1
		for old == 1 || old != now { // sizes are equal, so neither list ends first
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

// size returns the number of elements of a shape, or 0 if a length is below 1 or the number above 2³¹−1.
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
