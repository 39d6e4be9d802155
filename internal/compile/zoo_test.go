package compile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/enginetest"
	"gorgonia.org/gorgonia"
)

// The zoo's programs have every operation, replacing its result and, where it may, adding to it, every kind of value
// and every rule. An engine could get a missing one wrong unnoticed.
func TestZooHasEverything(t *testing.T) {
	replaced, added := map[compile.Op]bool{}, map[compile.Op]bool{}
	kinds, rules, transposed := map[compile.Kind]bool{}, map[compile.Rule]bool{}, map[bool]bool{}
	for name, z := range enginetest.Zoo() {
		src, err := z.Build(2)
		if err != nil {
			t.Fatal(err)
		}
		p, err := compile.Compile(src)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, list := range [][]compile.Instruction{p.Predict, p.Forward, p.Backward} {
			for _, in := range list {
				if in.Accumulate {
					added[in.Op] = true
				} else {
					replaced[in.Op] = true
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
	all, adding := compile.Operated()
	for _, op := range all {
		if !replaced[op] {
			t.Errorf("no graph has the operation %v", op)
		}
	}
	for _, op := range adding {
		if !added[op] {
			t.Errorf("no graph has the operation %v that adds", op)
		}
	}
	for kind := compile.Buffer; kind <= compile.Shared; kind++ {
		if !kinds[kind] {
			t.Errorf("no graph has a value of kind %v", kind)
		}
	}
	for rule := compile.RankOne; rule <= compile.Materialised; rule++ {
		if !rules[rule] {
			t.Errorf("no graph has a reduction of rule %v", rule)
		}
	}
	if !transposed[false] || !transposed[true] {
		t.Errorf("rank-one gradients are transposed: %v", transposed)
	}
}

// To Gorgonia LogSoftMax(h) after SoftMax(h) is the softmax: a cross-entropy of it would train something else.
func TestLogSoftmaxAfterSoftmaxIsRefused(t *testing.T) {
	g := enginetest.NewG(2, 1)
	x, y, w := g.In("x", 5), g.In("y", 4), g.Param("w", 5, 4)
	h := g.Do(gorgonia.Mul(x, w))
	p := g.Do(gorgonia.SoftMax(h))
	l := g.Do(gorgonia.LogSoftMax(h))
	src, err := g.Done(p, g.Do(gorgonia.Neg(g.Do(gorgonia.Sum(g.Do(gorgonia.HadamardProd(y, l)))))))
	if err != nil {
		t.Fatal(err)
	}
	if p != l {
		t.Log("Gorgonia tells them apart now")
	}
	if _, err := compile.Compile(src); !errors.Is(err, compile.ErrSource) || !strings.Contains(err.Error(), "use LogSoftMax alone") {
		t.Errorf("got %v", err)
	}
}
