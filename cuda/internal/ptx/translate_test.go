package ptx

import (
	"strings"
	"testing"
)

// kernel returns a module of one kernel with some registers, whose body is given.
func kernel(body string) string {
	return ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(\n\t.param .u64 k_param_0\n)\n{\n" +
		"\t.reg .pred %p<4>;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<9>;\n\t.reg .f32 %f<9>;\n\t.reg .f64 %fd<9>;\n" +
		"\t.shared .align 4 .b8 array[64];\n\t.local .align 4 .b8 own[8];\n" + body + "\n}\n"
}

// What isn't known is an error that names the line, and never C++ of another meaning.
func TestUnknownForms(t *testing.T) {
	for _, line := range []string{
		"frob.s32 %r1, %r2;", "add.s32 %r1, %r2;", "add.s32 %r1, %rd2, %r3;", "add.sat.s32 %r1, %r2, %r3;", "add.f32 %f1, %f2, %f3;",
		"add.rm.f64 %fd1, %fd2, %fd3;", "mul.s32 %r1, %r2, %r3;", "mul.lo.b32 %r1, %r2, %r3;", "div.approx.f32 %f1, %f2, %f3;",
		"fma.rn.ftz.f32 %f1, %f2, %f3, %f4;", "sin.approx.f32 %f1, %f2;", "and.s32 %r1, %r2, %r3;", "shl.s32 %r1, %r2, 1;",
		"setp.lo.s32 %p1, %r1, %r2;", "setp.lt.b32 %p1, %r1, %r2;", "setp.lt.nor.s32 %p1, %r1, %r2, %p2;", "selp.b32 %r1, %r2, %r3, %r4;",
		"mov.u32 %r1, %laneid;", "mov.u32 %r9, %r1;", "mov.u32 %r1, 0f3F800000;", "mov.f32 %f1, 1;", "mov.f32 %f1, 0d3FF0000000000000;",
		"ld.u32 %r1, [%rd1];", "ld.volatile.global.u32 %r1, [%rd1];", "ld.global.v4.f64 {%fd1, %fd2, %fd3, %fd4}, [%rd1];",
		"ld.global.v2.u32 %r1, [%rd1];", "ld.global.u32 %r1, %rd1;", "ld.param.u32 %r1, [k_param_0+8];", "ld.param.u64 %rd1, [other];",
		"ld.param.u64 %rd1, [k_param_0+4];", "st.global.nc.u32 [%rd1], %r1;", "st.param.u32 [k_param_0], %r1;", "ld.shared.u32 %r1, [nowhere];",
		"atom.global.max.u32 %r1, [%rd1], %r2;", "atom.global.add.f32 %f1, [%rd1], %f2;", "atom.global.cas.b32 %r1, [%rd1], %r2, %r3;",
		"bar.sync 1;", "bar.warp.sync -1;", "bar.sync 0, 32;", "vote.sync.any.pred %p1, %p2, -1;", "shfl.idx.b32 %r1, %r2, %r3, 31;",
		"shfl.sync.up.b32 %r1, %r2, %r3, 0, -1;", "cvt.f32.s32 %f1, %r1;", "cvt.rn.f64.f32 %fd1, %f1;", "cvt.s32.f32 %r1, %f1;",
		"cvta.global.u32 %r1, %r2;", "bra nowhere;", "bra;", "@%r1 add.s32 %r1, %r2, %r3;", "call.uni f, (%r1);", "popc.b16 %r1, %r2;",
		"bfe.s32 %r1, %r2, 0, 8;", "prmt.b32 %r1, %r2, %r3, %r4;", ".reg .v4 %x<2>;", ".shared .align 4 .b8 more[99999999999999999999];", "garbage",
	} {
		m, err := Parse("a.ptx", kernel(line))
		if err == nil {
			_, err = m.Cpp("a.ptx")
		}
		if err == nil || !strings.Contains(err.Error(), ":15:") && !strings.Contains(err.Error(), "line 15:") {
			t.Errorf("%s: error %v", line, err)
		}
	}
}

// A register counts as set only if all paths set it.
func TestUnset(t *testing.T) {
	for body, want := range map[string]int{
		"mov.u32 %r1, 1;\nadd.s32 %r2, %r1, %r1;\nret;":                                                                       0,
		"add.s32 %r2, %r1, 1;\nret;":                                                                                          1,
		"mov.pred %p1, 1;\n@%p1 bra $L;\nmov.u32 %r1, 1;\n$L:\nadd.s32 %r2, %r1, 1;\nret;":                                    1,
		"mov.pred %p1, 1;\n@%p1 bra $L;\nmov.u32 %r1, 1;\nbra.uni $M;\n$L:\nmov.u32 %r1, 2;\n$M:\nadd.s32 %r2, %r1, 1;\nret;": 0,
		"mov.pred %p1, 1;\n@%p1 mov.u32 %r1, 1;\nadd.s32 %r2, %r1, 1;\nret;":                                                  1,
		"@%p1 bra $L;\n$L:\nret;":                                                                                             1,
		"mov.u64 %rd1, 0;\nst.global.u32 [%rd1], %r1;\nret;":                                                                  1,
		"ret;\nadd.s32 %r2, %r1, 1;\nret;":                                                                                    0,
	} {
		m, err := Parse("a.ptx", kernel(body))
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Kernels[0].Unset(); len(got) != want {
			t.Errorf("%q: %v, want %d", body, got, want)
		}
	}
}

// Whatever the text, it is parsed and translated, or it is an error.
func FuzzParse(f *testing.F) {
	f.Add(kernel("add.s32 %r1, %r2, 1;\nret;"))
	f.Add(kernel("ld.global.v2.u32 {%r1, %r2}, [%rd1+8];\nshfl.sync.idx.b32 %r1|%p1, %r2, %r3, 31, -1;\nret;"))
	f.Add(".global .align 4 .b8 c[2] = {1, 2};\n" + kernel("@!%p1 bra $L;\n$L:\nsetp.lt.and.s32 %p1, %r1, 0, !%p2;\nret;"))
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Parse("a.ptx", text)
		if err != nil {
			return
		}
		if _, err := m.Cpp("a.ptx"); err != nil {
			return
		}
		for _, k := range m.Kernels {
			k.Unset()
		}
	})
}
