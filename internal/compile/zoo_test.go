package compile_test

import (
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/enginetest"
)

// The zoo's programs have every operation, replacing its result and, where allowed, adding to it and in Prepare; every
// kind of value; every rule; and products with all transpositions, of one and of several groups. A fault of an engine
// in a missing one would go unnoticed.
func TestZooHasEverything(t *testing.T) {
	type product struct {
		once, transA, transB, groups bool
	}
	replaced, added, once := map[compile.Op]bool{}, map[compile.Op]bool{}, map[compile.Op]bool{}
	kinds, rules, transposed := map[compile.Kind]bool{}, map[compile.Rule]bool{}, map[bool]bool{}
	functions, products := map[compile.Func]bool{}, map[product]bool{}
	for name, z := range enginetest.Zoo() {
		src, err := z.Build(2)
		if err != nil {
			t.Fatal(err)
		}
		p, err := compile.Compile(src)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, list := range [][]compile.Instruction{p.Prepare, p.Predict, p.Forward, p.Backward} {
			for _, in := range list {
				switch {
				case i == 0:
					once[in.Op] = true
				case in.Accumulate:
					added[in.Op] = true
				default:
					replaced[in.Op] = true
				}
				if in.Op == compile.Product {
					products[product{i == 0, in.TransA, in.TransB, in.Groups > 1}] = true
				}
				if i > 0 && (in.Op == compile.Unary || in.Op == compile.Binary || in.Op == compile.BinaryScalar) {
					functions[in.Func] = true
				}
			}
		}
		for _, v := range p.Values {
			kinds[v.Kind] = true
		}
		for _, r := range p.Reductions {
			rules[r.Rule] = true
			if r.Rule == compile.RankOne {
				transposed[r.TransB] = true
			}
		}
	}
	all, adding, preparing := compile.Operated()
	for _, c := range []struct {
		seen map[compile.Op]bool
		ops  []compile.Op
		what string
	}{{replaced, all, "replaces its result"}, {added, adding, "adds to it"}, {once, preparing, "is computed once for all samples"}} {
		for _, op := range c.ops {
			if !c.seen[op] {
				t.Errorf("no graph has the operation %v that %s", op, c.what)
			}
		}
	}
	for kind := compile.Buffer; kind <= compile.Derived; kind++ {
		if !kinds[kind] {
			t.Errorf("no graph has a value of kind %v", kind)
		}
	}
	for rule := compile.RankOne; rule <= compile.OfRows; rule++ {
		if !rules[rule] {
			t.Errorf("no graph has a reduction of rule %v", rule)
		}
	}
	for _, f := range compile.Functions() {
		if !functions[f] {
			t.Errorf("no graph has the function %v", f)
		}
	}
	if !transposed[false] || !transposed[true] {
		t.Errorf("rank-one gradients are transposed: %v", transposed)
	}
	for i := range 8 {
		if want := (product{transA: i&1 > 0, transB: i&2 > 0, groups: i&4 > 0}); !products[want] {
			t.Errorf("no graph has a product like %+v", want)
		}
	}
	if !products[product{once: true}] {
		t.Error("no graph has a product of parameters")
	}
}
