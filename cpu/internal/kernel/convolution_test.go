package kernel

import (
	"math/rand/v2"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// withTable runs the exported functions on one table.
func withTable(tb *table, f func()) {
	defer func(was *table) { active = was }(active)
	active = tb
	f()
}

// geometry is one convolution or pooling over an image.
type geometry struct{ c, h, w, kh, kw, padH, padW, strideH, strideW, dilH, dilW int }

func (g geometry) out() (oh, ow int) {
	return (g.h+2*g.padH-g.dilH*(g.kh-1)-1)/g.strideH + 1, (g.w+2*g.padW-g.dilW*(g.kw-1)-1)/g.strideW + 1
}

func drawGeometry(t *rapid.T, pooling bool) geometry {
	g := geometry{
		c: rapid.IntRange(1, 4).Draw(t, "c"),
		h: rapid.IntRange(1, 20).Draw(t, "h"), w: rapid.IntRange(1, 30).Draw(t, "w"),
		strideH: rapid.IntRange(1, 3).Draw(t, "strideH"), strideW: rapid.IntRange(1, 2).Draw(t, "strideW"),
		dilH: 1, dilW: 1,
	}
	kernel := rapid.IntRange(1, 10)
	g.kh, g.kw = kernel.Draw(t, "kh"), kernel.Draw(t, "kw")
	if pooling {
		g.padH, g.padW = rapid.IntRange(0, g.kh-1).Draw(t, "padH"), rapid.IntRange(0, g.kw-1).Draw(t, "padW")
	} else {
		g.padH, g.padW = rapid.IntRange(0, 3).Draw(t, "padH"), rapid.IntRange(0, 3).Draw(t, "padW")
		g.dilH, g.dilW = rapid.IntRange(1, 2).Draw(t, "dilH"), rapid.IntRange(1, 2).Draw(t, "dilW")
	}
	if g.dilH*(g.kh-1)+1 > g.h+2*g.padH || g.dilW*(g.kw-1)+1 > g.w+2*g.padW {
		t.Skip("kernel larger than image")
	}
	return g
}

// visit calls f for every element of the patch matrix, in order, with the index of the element of the image that
// belongs there, or −1 in the padding: Im2col's definition again, without padded copies.
func (g geometry) visit(f func(col, img int)) {
	oh, ow := g.out()
	col := 0
	for oy := range oh {
		for ox := range ow {
			for c := range g.c {
				for ky := range g.kh {
					for kx := range g.kw {
						y, x := oy*g.strideH-g.padH+ky*g.dilH, ox*g.strideW-g.padW+kx*g.dilW
						if y >= 0 && y < g.h && x >= 0 && x < g.w {
							f(col, (c*g.h+y)*g.w+x)
						} else {
							f(col, -1)
						}
						col++
					}
				}
			}
		}
	}
}

func TestPatches(t *testing.T) {
	arenas := newArenas(t)
	for _, tb := range tables() {
		t.Run(tb.name, rapid.MakeCheck(func(t *rapid.T) {
			g := drawGeometry(t, false)
			oh, ow := g.out()
			if oh*ow*g.c*g.kh*g.kw > arenaSize {
				t.Skip("too large")
			}
			atEnd := rapid.Bool().Draw(t, "at end")
			img, col := arenas[0].slice(g.c*g.h*g.w, atEnd), arenas[1].slice(oh*ow*g.c*g.kh*g.kw, atEnd)
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			fill(img, r, corners)
			fill(col, r, corners)

			want := make([]float32, len(col))
			g.visit(func(col, i int) {
				if i >= 0 {
					want[col] = img[i]
				}
			})
			withTable(tb, func() {
				Im2col(col, img, g.c, g.h, g.w, g.kh, g.kw, g.padH, g.padW, g.strideH, g.strideW, g.dilH, g.dilW)
			})
			wantSame(t, "Im2col", col, want)

			fill(col, r, normal)
			want = append(want[:0], img...)
			g.visit(func(j, i int) {
				if i >= 0 {
					want[i] += col[j]
				}
			})
			withTable(tb, func() {
				Col2im(img, col, g.c, g.h, g.w, g.kh, g.kw, g.padH, g.padW, g.strideH, g.strideW, g.dilH, g.dilW)
			})
			wantSame(t, "Col2im", img, want)
		}))
	}
}

func TestMaxPool(t *testing.T) {
	arenas := newArenas(t)
	for _, tb := range tables() {
		t.Run(tb.name, rapid.MakeCheck(func(t *rapid.T) {
			g := drawGeometry(t, true)
			oh, ow := g.out()
			atEnd := rapid.Bool().Draw(t, "at end")
			img, dst := arenas[0].slice(g.c*g.h*g.w, atEnd), arenas[1].slice(g.c*oh*ow, atEnd)
			fill(img, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)),
				rapid.SampledFrom([]kind{corners, small}).Draw(t, "kind"))
			arg := make([]int32, len(dst)+1)
			arg[len(dst)] = -7
			withTable(tb, func() {
				MaxPool(dst, arg[:len(dst)], img, g.c, g.h, g.w, g.kh, g.kw, g.padH, g.padW, g.strideH, g.strideW)
			})
			if arg[len(dst)] != -7 {
				t.Fatalf("wrote past the end of arg")
			}

			// Each channel and position has one patch, whose argument is the first of its maxima; NaN is above all.
			perChannel := g
			perChannel.c = 1
			for c := range g.c {
				best := make([]int, oh*ow)
				for i := range best {
					best[i] = -1
				}
				channel := img[c*g.h*g.w:]
				perChannel.visit(func(col, i int) {
					o := col / (g.kh * g.kw)
					if i < 0 || best[o] >= 0 && channel[best[o]] != channel[best[o]] {
						return
					}
					if best[o] < 0 || channel[i] > channel[best[o]] || channel[i] != channel[i] {
						best[o] = i
					}
				})
				for o, i := range best {
					at := c*oh*ow + o
					if int(arg[at]) != c*g.h*g.w+i || !sameBits(dst[at], channel[i]) {
						t.Fatalf("output %d is %v from %d, want %v from %d", at, dst[at], arg[at], channel[i], c*g.h*g.w+i)
					}
				}
			}
		}))
	}
}

func TestMaxPoolBackward(t *testing.T) {
	dst := []float32{1, 2, 3}
	MaxPoolBackward(dst, []float32{10, 20, 30}, []int32{2, 0, 2})
	wantSame(t, "dst", dst, []float32{21, 2, 43})
}

// TestMaxPoolGorgonia checks pooling, forward and backward, against the operation that it replaces.
func TestMaxPoolGorgonia(t *testing.T) {
	const c, h, w, k, pad, stride, oh, ow = 3, 9, 8, 3, 1, 2, 5, 4
	img := make([]float32, c*h*w)
	fill(img, rand.New(rand.NewPCG(3, 0)), small)

	g := gorgonia.NewGraph()
	x := gorgonia.NewTensor(g, gorgonia.Float32, 4, gorgonia.WithName("x"),
		gorgonia.WithValue(tensor.New(tensor.WithShape(1, c, h, w), tensor.WithBacking(append([]float32(nil), img...)))))
	y := gorgonia.Must(gorgonia.MaxPool2D(x, tensor.Shape{k, k}, []int{pad, pad}, []int{stride, stride}))
	sum := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.Square(y))))
	gradients, err := gorgonia.Grad(sum, x)
	if err != nil {
		t.Fatal(err)
	}
	var pooled, gradient gorgonia.Value
	gorgonia.Read(y, &pooled)
	gorgonia.Read(gradients[0], &gradient)
	machine := gorgonia.NewTapeMachine(g)
	defer machine.Close()
	if err := machine.RunAll(); err != nil {
		t.Fatal(err)
	}

	dst, arg := make([]float32, c*oh*ow), make([]int32, c*oh*ow)
	MaxPool(dst, arg, img, c, h, w, k, k, pad, pad, stride, stride)
	wantSame(t, "pooled", dst, pooled.Data().([]float32))
	dy, dx := make([]float32, len(dst)), make([]float32, len(img))
	MulScalar(dy, dst, 2)
	MaxPoolBackward(dx, dy, arg)
	wantSame(t, "gradient", dx, gradient.Data().([]float32))
}

func TestPaddingWiderThanPool(t *testing.T) {
	defer func() {
		const want = "kernel: MaxPool: padding 2×0 is not narrower than the window 2×2"
		if got := recover(); got != want {
			t.Errorf("panicked with %v, want %v", got, want)
		}
	}()
	MaxPool(make([]float32, 9), make([]int32, 9), make([]float32, 8), 1, 2, 4, 2, 2, 2, 0, 2, 1)
}
