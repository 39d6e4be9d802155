package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

var kernelSources = fstest.MapFS{
	"k.cu": {Data: []byte(`#include "f.cuh"

KERNEL(k)(int n) {
	for (;;) {
		if (n)
			f(n, 1);
		else
			f(n, 2);
	}
}
`)},
	"f.cuh": {Data: []byte(`struct cursor {
	DEVICE void next() { i++; }
};

template <class T> DEVICE void f(T n, int m) {
	for (;;)
		g();
	for (;;)
		next();
}

__device__ __noinline__ int h() {
}
`)},
}

// listing prints instructions as nvdisasm does. A line is an instruction, a label, a position, or an instruction that
// isn't printed. A branch goes to the label that it names.
func listing(kernel, tables string, lines ...string) string {
	labels := map[string]int{}
	n := 0
	for _, line := range lines {
		if label, ok := strings.CutSuffix(line, ":"); ok {
			labels[strings.TrimPrefix(label, "hidden ")] = n
		} else if !strings.HasPrefix(line, "//##") {
			n++
		}
	}
	var b strings.Builder
	if tables != "" {
		fmt.Fprintf(&b, "\t.section\t.nv.constant2.%s,\"a\",@progbits\n\t.align\t4\n.nv.constant2.%[1]s:\n", kernel)
		fmt.Fprintf(&b, "        /*0000*/ \t.byte\t%s\n", tables)
	}
	fmt.Fprintf(&b, "\n\n//--------------------- .text.%s --------------------------\n\t.section\t.text.%[1]s,\"ax\",@progbits\n", kernel)
	fmt.Fprintf(&b, "        .global         %s\n%[1]s:\n.text.%[1]s:\n", kernel)
	n = 0
	for _, line := range lines {
		if strings.HasPrefix(line, "hidden ") {
			continue
		}
		if strings.HasSuffix(line, ":") {
			fmt.Fprintln(&b, line)
			continue
		}
		if strings.HasPrefix(line, "//##") {
			fmt.Fprintf(&b, "\t%s\n", line)
			continue
		}
		var words [2]uint64
		if _, to, ok := strings.Cut(line, "BRA"); ok {
			_, to, _ = strings.Cut(to, "`(")
			distance := uint64(labels[strings.TrimSuffix(to, ")")]-n-1) * 4
			words = [2]uint64{distance&0xff<<16 | distance>>8<<34 | 0x947, distance >> 38 & 0x3ffff}
		}
		if encoding, ok := strings.CutPrefix(line, "0x"); ok {
			fmt.Fprintf(&b, "      /* 0x%s */\n", encoding)
		} else {
			fmt.Fprintf(&b, "        /*%04x*/                   %s ;      /* 0x%016x */\n", n*bytesEach, line, words[0])
		}
		fmt.Fprintf(&b, "      /* 0x%016x */\n", words[1])
		n++
	}
	return b.String()
}

const unprinted = "0x0000000200007848"

func handwritten() string {
	return listing("k", "0x00, 0x00, 0x00, 0x00, 0xf0, 0x00, 0x00, 0x00, 0x20, 0x01, 0x00, 0x00",
		"//## File \"/src/k.cu\", line 3",
		".L_x_9:",
		"MOV R1, R2",
		".L_x_0:", // a loop with a part that is branched over
		"//## File \"/src/f.cuh\", line 7 inlined at \"/src/k.cu\", line 6",
		"//## File \"/src/k.cu\", line 6",
		"LDG.E.128 R4, [R2.64]",
		"FFMA R5, R4, R4, R5",
		"@!P0 BRA `(.L_x_1)",
		"IMAD.MOV.U32 R6, RZ, RZ, R7",
		"LDS R6, [R7]",
		".L_x_1:",
		"@UP1 FFMA R5, R4, R4, R5",
		"//## File \"/src/f.cuh\", line 6 inlined at \"/src/k.cu\", line 6",
		"//## File \"/src/k.cu\", line 6",
		"@P1 BRA `(.L_x_0)",
		"hidden .L_x_2:", // a loop that begins with an instruction that isn't printed, and that branches to the rest
		unprinted,
		"MUFU.RCP R3, R4",
		"CALL.REL.NOINC `($k$divide)",
		"BRA.DIV UR4, `(.L_x_7)",
		"//## File \"/src/f.cuh\", line 6 inlined at \"/src/k.cu\", line 8",
		"//## File \"/src/k.cu\", line 8",
		"BRA !P0, `(.L_x_2)",
		"LDC R4, c[0x2][R0+0x4]",
		"BRX R4 -0xe0                         (*\"BRANCH_TARGETS .text.k\"*)",
		"IMAD R4, R4, R4, R4",
		"@P0 BRA `(.L_x_9)",
		"EXIT",
		"//## File \"/src/f.cuh\", line 8 inlined at \"/src/k.cu\", line 8",
		"//## File \"/src/k.cu\", line 8",
		".L_x_3:",
		"IADD3 R2, R3, R4, R5",
		"@P0 BRA `(.L_x_3)",
		"//## File \"/src/k.cu\", line 4",
		"BRA `(.L_x_9)",
		".L_x_7:",
		"//## File \"/src/f.cuh\", line 6 inlined at \"/src/k.cu\", line 8",
		"//## File \"/src/k.cu\", line 8",
		"BRA `(.L_x_2)",
		"BRA `(.L_x_5)", // not reached
		"$k$divide:",
		".L_x_5:",
		"//## File \"/usr/include/divide.hpp\", line 7",
		"FFMA R1, R2, R3, R4",
		"@P0 BRA `(.L_x_5)",
		"RET.REL.NODEC R2 `(k)",
	)
}

func TestTable(t *testing.T) {
	const want = head + `# all FFMA  LDG  LDS IMAD  RCP CALL |  all FFMA  LDG  LDS IMAD  RCP CALL inside name
    2    1    0    0    0    0    0 |    2    1    0    0    0    0    0      0 k/divide#1
    0    0    0    0    0    0    0 |    6    0    0    0    1    0    0      3 k#1
    5    2    1    0    0    0    0 |    7    2    1    1    1    0    0      0 k/f[1]#1
    5    0    0    0    0    1    1 |    6    0    0    0    0    1    1      0 k/f[2]#1
    2    0    0    0    0    0    0 |    2    0    0    0    0    0    0      0 k/f[2]#2
`
	got, err := table(kernelSources, handwritten())
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The words of a branch at 0x27ac0 to 0x18140 in the kernels of commit 8a4abbe, of which nvdisasm 11.8 prints no label.
func TestDistance(t *testing.T) {
	i := instruction{words: [2]uint64{0xffffff04009c8947, 0x000fea000383ffff}}
	if got, want := i.distance(), (0x18140-0x27ad0)/bytesEach; got != want {
		t.Errorf("%d instructions, want %d", got, want)
	}
}

// Of the same statement a compiler may make several loops. A name has no ordinal for one call or for one loop.
func TestCopiesHaveNumbers(t *testing.T) {
	at := func(line int) string { return fmt.Sprintf("//## File \"k.cu\", line %d", line) }
	text, err := table(kernelSources, listing("k", "", at(4), ".L_x_0:", "NOP", "@P0 BRA `(.L_x_0)", ".L_x_1:", "NOP", "NOP", "@P0 BRA `(.L_x_1)", "EXIT"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			f := strings.Fields(line)
			names = append(names, f[0]+" "+f[len(f)-1])
		}
	}
	if want := []string{"2 k#1.1", "3 k#1.2"}; !slices.Equal(names, want) {
		t.Errorf("loops %q, want %q", names, want)
	}
}

func TestFunctions(t *testing.T) {
	s, err := sourcesOf(kernelSources)
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[position]string{
		{"k.cu", 1}: "k", {"k.cu", 3}: "k", {"k.cu", 9}: "k", {"k.cu", 11}: "k",
		{"f.cuh", 1}: "f", {"f.cuh", 2}: "next", {"f.cuh", 5}: "f", {"f.cuh", 10}: "f", {"f.cuh", 12}: "h", {"cmath", 7}: "cmath", {"a.hpp", 1}: "a",
	} {
		if got := s.function(p); got != want {
			t.Errorf("%v is in %s, want %s", p, got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	good := listing("k", "", ".L_x_0:", "NOP", "@P0 BRA `(.L_x_0)", "EXIT")
	if _, err := table(kernelSources, good); err != nil {
		t.Fatal(err)
	}
	half := good[:strings.LastIndex(strings.TrimSuffix(good, "\n"), "\n")]
	for _, c := range []struct{ what, listing, want string }{
		{"nothing", "", "no machine code"},
		{"another address", strings.Replace(good, "/*0010*/", "/*0020*/", 1), "line 11: address 0020 of instruction 1"},
		{"no end", half, "the listing ends within an instruction"},
		{"a section within an instruction", half + "\n\t.section\t.text.j,", "a section begins within"},
		{"an unknown instruction", listing("k", "", "0x0000000200007847"), "doesn't print the instruction 0000000200007847"},
		{"another label", strings.Replace(good, ".L_x_0:\n", "", 1) + ".L_x_0:\n", "goes to instruction 0"},
		{"a branch out of the code", listing("k", "", "hidden .L_x_0:", "BRA `(.L_x_1)", "NOP", "NOP", "hidden .L_x_1:"), "goes to instruction 3"},
		{"a branch without a target", listing("k", "", "BRA R1"), "can't read \"BRA R1\""},
		{"an unknown branch", listing("k", "", "JMP 0x10"), "unknown branch"},
		{"no table", listing("k", "", "BRX R4 -0x10"), "no table"},
		{"a table's entry out of the code", listing("k", "0x40, 0x00, 0x00, 0x00", "LDC R4, c[0x2][R0]", "BRX R4 -0x10", "NOP"), "address 0x40"},
		{"two entries", listing("k", "", "@P0 BRA `(.L_x_1)", ".L_x_0:", "NOP", ".L_x_1:", "NOP", "BRA `(.L_x_0)"), "two entries"},
		{"a subroutine without code", good + "$k$f:\n", "a subroutine begins at instruction 3 of 3"},
	} {
		if _, err := table(kernelSources, c.listing); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.what, err, c.want)
		}
	}
}

// No listing makes it panic, and paths are within their loops.
func FuzzTable(f *testing.F) {
	f.Add(handwritten())
	f.Fuzz(func(t *testing.T, listing string) {
		if len(listing) > 1<<16 {
			return
		}
		if _, err := table(kernelSources, listing); err != nil {
			return
		}
		kernels, err := parse(listing)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range kernels {
			loops, err := k.loops()
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range loops {
				for _, i := range l.path {
					if !slices.Contains(l.own, i) {
						t.Errorf("loop at %d: instruction %d of the path isn't its own", l.first, i)
					}
				}
				if l.path != nil && l.path[0] != l.first || !l.body[l.last] {
					t.Errorf("loop from %d to %d: path %v", l.first, l.last, l.path)
				}
			}
		}
	})
}
