package kernel

import "fmt"

// checkLength panics unless an argument has the wanted length. It is small enough to be inlined: another function makes
// the message.
func checkLength(kernel, argument string, got, want int) {
	if got != want {
		wrongLength(kernel, argument, got, want)
	}
}

//go:noinline
func wrongLength(kernel, argument string, got, want int) {
	panic(fmt.Sprintf("kernel: %s: len(%s) is %d, want %d", kernel, argument, got, want))
}

// checkAtLeast panics unless a quantity of an argument is at least the given minimum. what names the quantity, with %s
// for the argument.
func checkAtLeast(kernel, what, argument string, got, least int) {
	if got < least {
		tooSmall(kernel, what, argument, got, least)
	}
}

//go:noinline
func tooLarge(kernel, argument string, got, want int) {
	panic(fmt.Sprintf("kernel: %s: %s holds %d, want less than %d and at least 0", kernel, argument, got, want))
}

//go:noinline
func tooSmall(kernel, what, argument string, got, least int) {
	panic(fmt.Sprintf("kernel: %s: "+what+" is %d, want at least %d", kernel, argument, got, least))
}

func unary(kernel string, do func(dst, a []float32), dst, a []float32) {
	checkLength(kernel, "a", len(a), len(dst))
	do(dst, a)
}

func scalar(kernel string, do func(dst, a []float32, s float32), dst, a []float32, s float32) {
	checkLength(kernel, "a", len(a), len(dst))
	do(dst, a, s)
}

func binary(kernel string, do func(dst, a, b []float32), dst, a, b []float32) {
	checkLength(kernel, "a", len(a), len(dst))
	checkLength(kernel, "b", len(b), len(dst))
	do(dst, a, b)
}
