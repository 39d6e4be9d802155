package cuda

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cuda/internal/ptx"
	"github.com/dptrain/dptrain/internal/enginetest"
)

// ptxMutant is a fault in the PTX: a kernel's instructions whose name begins with old, all of them or one after
// another, are replaced.
type ptxMutant struct {
	kernel, old string
	new         string // what the name begins with instead; "" drops the instruction
	each        bool   // one after another, each by itself
	equal       int    // how many of these change nothing
	by          func(enginetest.TB, enginetest.Suite, opener)
}

func byDraws(t enginetest.TB, _ enginetest.Suite, open opener)   { drawsOn(t, open) }
func byUpdates(t enginetest.TB, _ enginetest.Suite, open opener) { updatesOn(t, open) }

// byCheck names a check of the suite.
func byCheck(name string) func(enginetest.TB, enginetest.Suite, opener) {
	check, _, _ := walkMutant{by: name}.check()
	return func(t enginetest.TB, s enginetest.Suite, _ opener) { check(t, s) }
}

// Faults in the PTX are found by the tests that it passes: those of draws and updates, and the suite.
func TestPTXMutantsAreFound(t *testing.T) {
	onlyIfChanged(t)
	for _, m := range []ptxMutant{
		{kernel: "draw_minibatches", old: "xor.b32", new: "or.b32", by: byDraws},
		{kernel: "draw_minibatches", old: "shf.l.wrap.b32", new: "shf.r.wrap.b32", by: byDraws},
		{kernel: "draw_minibatches", old: "setp.lt.u64", new: "setp.gt.u64", by: byDraws},
		{kernel: "draw_minibatches", old: "bar.sync", each: true, by: byDraws},
		{kernel: "draw_minibatches", old: "st.global", each: true, by: byDraws},
		{kernel: "draw_minibatches", old: "st.shared", each: true, by: byDraws},
		{kernel: "draw_minibatches", old: "shfl.sync", each: true, by: byDraws},
		{kernel: "release_and_update", old: "cvt.rni.f64.f64", new: "cvt.rzi.f64.f64", by: byUpdates},
		{kernel: "release_and_update", old: "fma.rn.f64", new: "mul.rn.f64", by: byUpdates},
		{kernel: "release_and_update", old: "div.rn.f64", new: "mul.rn.f64", by: byUpdates},
		{kernel: "release_and_update", old: "sqrt.rn.f64", new: "abs.f64", by: byUpdates},
		{kernel: "release_and_update", old: "st.global", each: true, by: byUpdates},
		{kernel: "clipped_sums", old: "atom.global.add.u64", by: byCheck("Clipping")},
		{kernel: "clipped_sums", old: "bar.sync", by: byCheck("residual")},
		{kernel: "clipped_sums", old: "fma.rn.f32", new: "fma.rz.f32", by: byCheck("Rounding")},
		{kernel: "clipped_sums", old: "shfl.sync", by: byCheck("residual")},
		{kernel: "clipped_sums", old: "min.s32", new: "max.s32", by: byCheck("residual")},
		{kernel: "clipped_sums", old: "sqrt.rn.f64", new: "abs.f64", by: byCheck("Clipping")},
		{kernel: "predict", old: "bar.sync", by: byCheck("Outputs")},
		{kernel: "predict", old: "min.s32", new: "max.s32", by: byCheck("Outputs")},
	} {
		t.Run(fmt.Sprintf("%s, %s for %s", m.kernel, m.new, m.old), func(t *testing.T) {
			t.Parallel()
			first, count := -1, 1
			if m.each {
				first, count = 0, m.instances(t)
			}
			missed := 0
			for i := range count {
				if said := m.found(t, first+i); said == "" {
					missed++
					t.Logf("instance %d changes nothing that is tested", i)
				} else {
					t.Log(said)
				}
			}
			if missed != m.equal {
				t.Errorf("%d of %d aren't found, want %d", missed, count, m.equal)
			}
		})
	}
}

// module parses the module of the mutant's kernel, and returns the kernel's instructions that are replaced.
func (m ptxMutant) module(t *testing.T) (name string, module *ptx.Module, k *ptx.Kernel, at []int) {
	t.Helper()
	all, err := parseModules()
	if err != nil {
		t.Fatal(err)
	}
	for name, module := range all {
		for _, k := range module.Kernels {
			if k.Name != m.kernel {
				continue
			}
			for i, in := range k.Code {
				if strings.HasPrefix(in.Op, m.old) {
					at = append(at, i)
				}
			}
			return name, module, k, at
		}
	}
	t.Fatalf("no kernel %s", m.kernel)
	return "", nil, nil, nil
}

func (m ptxMutant) instances(t *testing.T) int {
	_, _, _, at := m.module(t)
	return len(at)
}

// found compiles the mutant, of one instance or, for -1, of all, and returns the first report of it.
func (m ptxMutant) found(t *testing.T, instance int) string {
	t.Helper()
	name, module, k, at := m.module(t)
	if len(at) == 0 {
		t.Fatalf("%s has no %s", m.kernel, m.old)
	}
	if instance >= 0 {
		at = at[instance : instance+1]
	}
	for _, i := range slices.Backward(at) {
		if m.new == "" {
			k.Code = slices.Delete(k.Code, i, i+1)
		} else {
			k.Code[i] = m.replaced(k.Code[i])
		}
	}
	l, err := translated(map[string]*ptx.Module{name: module}, "-O0")
	if err != nil {
		t.Fatal(err)
	}
	s := enginetest.Suite{Engine: emulated(t, l, 1), Inspect: inspect, Tolerance: 2e-4, Short: true}
	return firstReport(func(t enginetest.TB) { m.by(t, s, on(l)) })
}

// replaced returns the instruction under its new name, with as many operands as that takes.
func (m ptxMutant) replaced(in ptx.Instruction) ptx.Instruction {
	in.Op = m.new + strings.TrimPrefix(in.Op, m.old)
	in.Operands = slices.Clone(in.Operands)
	if strings.HasPrefix(m.new, "mul.rn") {
		in.Operands = in.Operands[:3]
	}
	return in
}
