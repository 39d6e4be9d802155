package compile_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/enginetest"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// An operation refused for mixing samples is a MixError and mixes them, as Gorgonia's own machine shows; an operation
// refused for another reason is a RefusedError and doesn't. The reason is the table's.
func TestRefusals(t *testing.T) {
	for name, r := range refusals {
		t.Run(name, func(t *testing.T) {
			batch := r.size()
			src, err := r.build(enginetest.NewG(batch, 1))
			if err != nil {
				t.Fatal(err)
			}
			_, err = compile.Compile(src)
			var mix *compile.MixError
			var refused *compile.RefusedError
			switch {
			case !errors.Is(err, compile.ErrSource), !errors.As(err, &mix) && !errors.As(err, &refused), errors.As(err, &mix) != r.mixes:
				t.Fatalf("got %v, want a MixError: %v", err, r.mixes)
			case r.mixes && mix.Why != r.want, !r.mixes && refused.Why != r.want:
				t.Fatalf("got %v, want %q", err, r.want)
			case strings.Contains(err.Error(), "\n"), !r.mixes && strings.Contains(err.Error(), "mixes the"):
				t.Errorf("%q has more than one line, or says that samples are mixed", err)
			}
			if !r.mixes {
				try(t, refused.Instead)
			} else if _, instead, ok := strings.Cut(mix.Why, "; use "); ok {
				try(t, instead)
			}
			if batch == 4 && !r.fails {
				if m := mixed(t, r); m != r.mixes {
					t.Errorf("Gorgonia's machine mixes samples: %v, want %v", m, r.mixes)
				}
			}
		})
	}
}

// mixed reports whether the first sample's contribution to the cost depends on the second. Gorgonia evaluates the cost
// for two values of each.
func mixed(t *testing.T, r refusal) bool {
	t.Helper()
	at := func(first, second uint64) float64 {
		src, err := r.build(enginetest.NewG(4, 1))
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range src.Inputs {
			let(t, n, i, []uint64{first, second, 5, 6})
		}
		machine := gorgonia.NewTapeMachine(src.Cost.Graph())
		defer machine.Close()
		if err := machine.RunAll(); err != nil {
			t.Fatal(err)
		}
		cost, err := strconv.ParseFloat(fmt.Sprint(src.Cost.Value().Data()), 64)
		if err != nil {
			t.Fatal(err)
		}
		return cost
	}
	a, b, c, d := at(1, 2), at(3, 2), at(1, 4), at(3, 4)
	scale := math.Abs(a) + math.Abs(b) + math.Abs(c) + math.Abs(d)
	if math.Abs(a-b)+math.Abs(a-c) < 1e-4*scale && r.mixes {
		t.Error("the cost depends on neither sample")
	}
	return math.Abs(a-b-c+d) > 1e-4*scale
}

// let binds an input to samples drawn from one seed each. Integers are positions of the four samples.
func let(t *testing.T, n *gorgonia.Node, input int, seeds []uint64) {
	t.Helper()
	each := n.Shape().TotalSize() / len(seeds)
	var floats []float32
	var integers []int
	for _, seed := range seeds {
		r := rand.New(rand.NewPCG(seed, uint64(input)))
		for range each {
			floats, integers = append(floats, 2*float32(r.NormFloat64())), append(integers, r.IntN(len(seeds)))
		}
	}
	var backing any = floats
	if n.Dtype() == tensor.Int {
		backing = integers
	}
	if err := gorgonia.Let(n, tensor.New(tensor.WithShape(n.Shape()...), tensor.WithBacking(backing))); err != nil {
		t.Fatal(err)
	}
}
