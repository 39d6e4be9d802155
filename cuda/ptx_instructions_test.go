package cuda

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/cuda/internal/ptx"
	"github.com/dptrain/dptrain/internal/enginetest"
)

// form is a form of an instruction, of up to three operands, and what it computes of their bits.
type form struct {
	text string // with d for the result and a, b, c for the operands
	bits int    // of the result
	of   func(a, b, c uint64) uint64
}

func f32(b uint64) float32  { return math.Float32frombits(uint32(b)) }
func of32(v float32) uint64 { return uint64(math.Float32bits(v)) }
func f64(b uint64) float64  { return math.Float64frombits(b) }
func of64(v float64) uint64 { return math.Float64bits(v) }

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// exact32 rounds a sum or product of two float32, which double precision holds well enough to round once.
func exact32(v float64) uint64 { return of32(float32(v)) }

// forms are instructions whose results Go's own arithmetic gives. Registers are a, b, c of 32 bits, A, B, C of 64, f,
// g, h and F, G, H their floats; the results are d, D, e, E and the predicate q.
var forms = []form{
	{"add.s32 d, a, b", 32, func(a, b, _ uint64) uint64 { return uint64(uint32(a) + uint32(b)) }},
	{"sub.s32 d, a, b", 32, func(a, b, _ uint64) uint64 { return uint64(uint32(a) - uint32(b)) }},
	{"add.s64 D, A, B", 64, func(a, b, _ uint64) uint64 { return a + b }},
	{"mul.lo.s32 d, a, b", 32, func(a, b, _ uint64) uint64 { return uint64(uint32(a) * uint32(b)) }},
	{"mul.hi.u32 d, a, b", 32, func(a, b, _ uint64) uint64 { return uint64(uint32(a)) * uint64(uint32(b)) >> 32 }},
	{"mul.hi.s32 d, a, b", 32, func(a, b, _ uint64) uint64 { return uint64(uint32(int64(int32(a)) * int64(int32(b)) >> 32)) }},
	{"mul.hi.u64 D, A, B", 64, func(a, b, _ uint64) uint64 { high, _ := bits.Mul64(a, b); return high }},
	{"mul.wide.s32 D, a, b", 64, func(a, b, _ uint64) uint64 { return uint64(int64(int32(a)) * int64(int32(b))) }},
	{"mul.wide.u32 D, a, b", 64, func(a, b, _ uint64) uint64 { return uint64(uint32(a)) * uint64(uint32(b)) }},
	{"mad.lo.s32 d, a, b, c", 32, func(a, b, c uint64) uint64 { return uint64(uint32(a)*uint32(b) + uint32(c)) }},
	{"mad.wide.u32 D, a, b, C", 64, func(a, b, c uint64) uint64 { return uint64(uint32(a))*uint64(uint32(b)) + c }},
	{"min.s32 d, a, b", 32, func(a, b, _ uint64) uint64 { return uint64(uint32(min(int32(a), int32(b)))) }},
	{"max.u32 d, a, b", 32, func(a, b, _ uint64) uint64 { return uint64(max(uint32(a), uint32(b))) }},
	{"neg.s64 D, A", 64, func(a, _, _ uint64) uint64 { return -a }},
	{"and.b32 d, a, b", 32, func(a, b, _ uint64) uint64 { return uint64(uint32(a & b)) }},
	{"or.b64 D, A, B", 64, func(a, b, _ uint64) uint64 { return a | b }},
	{"xor.b32 d, a, b", 32, func(a, b, _ uint64) uint64 { return uint64(uint32(a ^ b)) }},
	{"not.b64 D, A", 64, func(a, _, _ uint64) uint64 { return ^a }},
	{"shl.b32 d, a, b", 32, func(a, b, _ uint64) uint64 { return uint64(uint32(a) << uint32(b)) }},
	{"shr.u32 d, a, b", 32, func(a, b, _ uint64) uint64 { return uint64(uint32(a) >> uint32(b)) }},
	{"shr.s32 d, a, b", 32, func(a, b, _ uint64) uint64 { return uint64(uint32(int32(a) >> uint32(b))) }},
	{"shr.s64 D, A, b", 64, func(a, b, _ uint64) uint64 { return uint64(int64(a) >> uint32(b)) }},
	{"shf.l.wrap.b32 d, a, b, c", 32, func(a, b, c uint64) uint64 {
		return uint64(uint32((uint64(uint32(b))<<32 | uint64(uint32(a))) << (c & 31) >> 32))
	}},
	{"shf.r.wrap.b32 d, a, b, c", 32, func(a, b, c uint64) uint64 {
		return uint64(uint32((uint64(uint32(b))<<32 | uint64(uint32(a))) >> (c & 31)))
	}},
	{"bfi.b64 D, A, B, 3, 17", 64, func(a, b, _ uint64) uint64 { const m = (1<<17 - 1) << 3; return b&^uint64(m) | a<<3&m }},
	{"bfe.u32 d, a, 5, 9", 32, func(a, _, _ uint64) uint64 { return uint64(uint32(a) >> 5 & (1<<9 - 1)) }},
	{"popc.b32 d, a", 32, func(a, _, _ uint64) uint64 { return uint64(bits.OnesCount32(uint32(a))) }},
	{"clz.b32 d, a", 32, func(a, _, _ uint64) uint64 { return uint64(bits.LeadingZeros32(uint32(a))) }},
	{"add.rn.f32 e, f, g", 32, func(a, b, _ uint64) uint64 { return of32(f32(a) + f32(b)) }},
	{"mul.rn.f32 e, f, g", 32, func(a, b, _ uint64) uint64 { return of32(f32(a) * f32(b)) }},
	{"div.rn.f32 e, f, g", 32, func(a, b, _ uint64) uint64 { return of32(f32(a) / f32(b)) }},
	{"sqrt.rn.f32 e, f", 32, func(a, _, _ uint64) uint64 { return exact32(math.Sqrt(float64(f32(a)))) }},
	{"rcp.rn.f64 E, F", 64, func(a, _, _ uint64) uint64 { return of64(1 / f64(a)) }},
	{"sub.rn.f64 E, F, G", 64, func(a, b, _ uint64) uint64 { return of64(f64(a) - f64(b)) }},
	{"div.rn.f64 E, F, G", 64, func(a, b, _ uint64) uint64 { return of64(f64(a) / f64(b)) }},
	{"fma.rn.f64 E, F, G, H", 64, func(a, b, c uint64) uint64 { return of64(math.FMA(f64(a), f64(b), f64(c))) }},
	{"neg.f32 e, f", 32, func(a, _, _ uint64) uint64 { return a&(1<<32-1) ^ 1<<31 }},
	{"abs.f64 E, F", 64, func(a, _, _ uint64) uint64 { return a &^ (1 << 63) }},
	{"cvt.f64.f32 E, f", 64, func(a, _, _ uint64) uint64 { return of64(float64(f32(a))) }},
	{"cvt.rn.f32.f64 e, F", 32, func(a, _, _ uint64) uint64 { return of32(float32(f64(a))) }},
	{"cvt.rn.f32.s32 e, a", 32, func(a, _, _ uint64) uint64 { return of32(float32(int32(a))) }},
	{"cvt.rn.f64.u64 E, A", 64, func(a, _, _ uint64) uint64 { return of64(float64(a)) }},
	{"cvt.rni.f64.f64 E, F", 64, func(a, _, _ uint64) uint64 { return of64(math.RoundToEven(f64(a))) }},
	{"cvt.rmi.f32.f32 e, f", 32, func(a, _, _ uint64) uint64 { return of32(float32(math.Floor(float64(f32(a))))) }},
	{"cvt.s64.s32 D, a", 64, func(a, _, _ uint64) uint64 { return uint64(int64(int32(a))) }},
	{"cvt.u64.u32 D, a", 64, func(a, _, _ uint64) uint64 { return uint64(uint32(a)) }},
	{"cvt.u32.u64 d, A", 32, func(a, _, _ uint64) uint64 { return uint64(uint32(a)) }},
	{"cvt.sat.f32.f32 e, f", 32, func(a, _, _ uint64) uint64 {
		if v := f32(a); v > 0 {
			return of32(min(v, 1))
		}
		return 0
	}},
	{"cvt.rzi.s64.f64 D, F", 64, func(a, _, _ uint64) uint64 {
		switch v := f64(a); {
		case v != v || v < -0x1p63:
			return 1 << 63
		case v >= 0x1p63:
			return 1<<63 - 1
		default:
			return uint64(int64(v))
		}
	}},
	{"setp.lt.s32 q, a, b", 1, func(a, b, _ uint64) uint64 { return truth(int32(a) < int32(b)) }},
	{"setp.ge.u64 q, A, B", 1, func(a, b, _ uint64) uint64 { return truth(a >= b) }},
	{"setp.lt.f32 q, f, g", 1, func(a, b, _ uint64) uint64 { return truth(f32(a) < f32(b)) }},
	{"setp.ne.f32 q, f, g", 1, func(a, b, _ uint64) uint64 { return truth(f32(a) < f32(b) || f32(a) > f32(b)) }},
	{"setp.neu.f32 q, f, g", 1, func(a, b, _ uint64) uint64 { return truth(f32(a) != f32(b)) }},
	{"setp.gtu.f64 q, F, G", 1, func(a, b, _ uint64) uint64 { return truth(!(f64(a) <= f64(b))) }},
	{"setp.num.f32 q, f, g", 1, func(a, b, _ uint64) uint64 { return truth(f32(a) == f32(a) && f32(b) == f32(b)) }},
	{"selp.b32 d, a, b, p", 32, func(a, b, c uint64) uint64 {
		if c&1 == 1 {
			return uint64(uint32(a))
		}
		return uint64(uint32(b))
	}},
	{"mov.b64 {d, r}, A", 32, func(a, _, _ uint64) uint64 { return uint64(uint32(a)) }},
	{"mov.b64 D, {a, b}", 64, func(a, b, _ uint64) uint64 { return uint64(uint32(a)) | b<<32 }},
	{"@!p add.s32 d, a, 1", 32, func(a, _, c uint64) uint64 {
		if c&1 == 1 {
			return 0
		}
		return uint64(uint32(a) + 1)
	}},
}

// operands are bits at the ends of every type's range, and between.
var operands = []uint64{
	0, 1, 2, 31, 32, 33, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff,
	of32(1.5), of32(-2.25), of32(0x1p-149), of32(0x1p-126), of32(0x1.fffffep127), of32(float32(math.Inf(1))), of32(float32(math.NaN())),
	of32(2.5), of32(1 + 0x1p-23), of64(1.5), of64(-2.5), of64(0x1p-1074), of64(math.MaxFloat64), of64(math.Inf(-1)), of64(math.NaN()),
	of64(0x1p62), of64(-0x1p63), of64(0x1p63), of64(1 + 0x1p-52), of64(1 + 0x1p-24), 0x123456789abcdef0,
}

// instructions returns PTX with a kernel for each form, which applies it to rows of three operands of 64 bits.
func instructions() string {
	var b strings.Builder
	b.WriteString(".version 7.0\n.target sm_70\n.address_size 64\n")
	names := strings.NewReplacer("a", "%r1", "b", "%r2", "c", "%r3", "d", "%r4", "r", "%r5", "A", "%rd1", "B", "%rd2", "C", "%rd3", "D", "%rd4",
		"f", "%f1", "g", "%f2", "h", "%f3", "e", "%f4", "F", "%fd1", "G", "%fd2", "H", "%fd3", "E", "%fd4", "p", "%p1", "q", "%p2")
	for i, f := range forms {
		guard, rest := "", f.text
		if strings.HasPrefix(rest, "@") {
			_, rest, _ = strings.Cut(rest, " ")
			guard = "@!%p1 "
		}
		op, list, _ := strings.Cut(rest, " ")
		fmt.Fprintf(&b, ".visible .entry form%d(\n\t.param .u64 at,\n\t.param .u64 to\n)\n{\n", i)
		b.WriteString("\t.reg .pred %p<3>;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<12>;\n\t.reg .f32 %f<5>;\n\t.reg .f64 %fd<5>;\n")
		b.WriteString("\tld.param.u64 %rd8, [at];\n\tld.param.u64 %rd9, [to];\n\tmov.u32 %r8, %tid.x;\n\tmul.wide.u32 %rd10, %r8, 24;\n\tadd.s64 %rd8, %rd8, %rd10;\n")
		b.WriteString("\tmul.wide.u32 %rd10, %r8, 8;\n\tadd.s64 %rd9, %rd9, %rd10;\n\tmov.u64 %rd4, 0;\n\tmov.u32 %r4, 0;\n\tmov.f32 %f4, 0f00000000;\n")
		for k := 1; k <= 3; k++ {
			fmt.Fprintf(&b, "\tld.global.u64 %%rd%d, [%%rd8+%d];\n\tcvt.u32.u64 %%r%d, %%rd%d;\n\tmov.b32 %%f%d, %%r%d;\n\tmov.b64 %%fd%d, %%rd%d;\n", k, 8*k-8, k, k, k, k, k, k)
		}
		b.WriteString("\tand.b32 %r5, %r3, 1;\n\tsetp.eq.s32 %p1, %r5, 1;\n")
		fmt.Fprintf(&b, "\t%s%s %s;\n", guard, op, names.Replace(list))
		switch result := strings.Trim(strings.Fields(list)[0], "{,"); result {
		case "d":
			b.WriteString("\tcvt.u64.u32 %rd4, %r4;\n")
		case "e":
			b.WriteString("\tmov.b32 %r4, %f4;\n\tcvt.u64.u32 %rd4, %r4;\n")
		case "E":
			b.WriteString("\tmov.b64 %rd4, %fd4;\n")
		case "q":
			b.WriteString("\tselp.b64 %rd4, 1, 0, %p2;\n")
		}
		b.WriteString("\tst.global.u64 [%rd9], %rd4;\n\tret;\n}\n")
	}
	return b.String()
}

// Each form of an instruction computes what Go's arithmetic does, for operands at the ends of their ranges.
func TestInstructions(t *testing.T) {
	kernelsOrSkip(t)
	m, err := ptx.Parse("forms.ptx", instructions())
	if err != nil {
		t.Fatal(err)
	}
	l, err := translated(map[string]*ptx.Module{"forms.ptx": m}, "-O0")
	if err != nil {
		t.Fatal(err)
	}
	instructionsOf(t, on(l))
}

func instructionsOf(t enginetest.TB, open opener) {
	d, done := device(t, open, 1)
	defer done()
	var rows []uint64
	for i, a := range operands {
		for j, b := range operands {
			rows = append(rows, a, b, operands[(i+j)%len(operands)])
		}
	}
	n := len(rows) / 3
	at, to := putOn(t, d, rows), space(t, d, n)
	for i, f := range forms {
		for from := 0; from < n; from += 256 {
			if err := d.Launch(fmt.Sprintf("form%d", i), 1, min(256, n-from), at+24*driver.Pointer(from), to+8*driver.Pointer(from)); err != nil {
				t.Fatal(err)
			}
		}
		for k, got := range get[uint64](t, d, to, 0, n) {
			a, b, c := rows[3*k], rows[3*k+1], rows[3*k+2]
			want := f.of(a, b, c)
			isNaN := f.text[0] != '@' && strings.Contains(f.text, ".f") && (f.bits == 32 && f32(want) != f32(want) || f.bits == 64 && f64(want) != f64(want))
			if got != want && !(isNaN && (f.bits == 32 && f32(got) != f32(got) || f.bits == 64 && f64(got) != f64(got))) {
				t.Fatalf("%s of %#x, %#x, %#x: %#x, want %#x", f.text, a, b, c, got, want)
			}
		}
	}
}
