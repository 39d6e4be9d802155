package cuda

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// bound is the maximum number of instructions on the path through a loop, for the multiply-adds on it. A path may have
// more or fewer multiply-adds at the same rate. If multiplyAdds is 0, the path's number of instructions is bounded.
type bound struct {
	loop                       string
	instructions, multiplyAdds int
	aim                        int // instructions for 32 multiply-adds, or on the path; 0: none is set
}

// loopBounds has what the kernels have reached: lower a bound after a change that makes a loop faster. See
// cuda/kernels/loops.py about names.
var loopBounds = []bound{
	{"clipped_sums/walk/conv/multiply/multiply[1]#2", 101, 64, 60},
	{"clipped_sums/walk/step_back/conv_back/multiply/multiply[1]#2", 56, 32, 60},
	// Filters' gradients of many elements and of few, in steps of four positions and of one.
	{"clipped_sums/walk/step_back/grad_conv/multiply[1]#4", 185, 128, 60},
	{"clipped_sums/walk/step_back/grad_conv/multiply[1]/multiply[3]#2", 111, 64, 60},
	{"clipped_sums/walk/step_back/grad_conv/multiply[2]#4", 105, 64, 60},
	{"clipped_sums/walk/step_back/grad_conv/multiply[2]/multiply[3]#2", 71, 32, 60},
	{"clipped_sums/walk/matmul/multiply#4", 63, 32, 0}, // in steps of four terms, and of one
	{"clipped_sums/walk/matmul/multiply/multiply[3]#2", 88, 32, 0},
	{"clipped_sums/walk/step_back/grad_matmul/multiply[1]/multiply[4]#2", 85, 32, 0},
	{"clipped_sums/walk/step_back/grad_matmul/multiply[1]/multiply[5]#2", 113, 32, 0},
	{"clipped_sums/walk/step_back/grad_matmul/multiply[2]/multiply[4]#2", 85, 32, 0},
	{"clipped_sums/walk/step_back/grad_matmul/multiply[2]/multiply[5]#2", 113, 32, 0},
	// Of matrices that each sample has of its own. The left one transposed: eight rows, and fewer; the right one;
	// neither, both in steps of four terms and of one.
	{"clipped_sums/walk/product/multiply[1]/multiply[4]#2", 85, 32, 0},
	{"clipped_sums/walk/product/multiply[1]/multiply[5]#2", 113, 32, 0},
	{"clipped_sums/walk/product/multiply[2]#3", 56, 32, 60},
	{"clipped_sums/walk/product/multiply[2]/multiply[2]#2", 84, 32, 0},
	{"clipped_sums/walk/product/multiply[3]#4", 63, 32, 0},
	{"clipped_sums/walk/product/multiply[3]/multiply[3]#2", 88, 32, 0},
	{"clipped_sums/walk/step_back/normalize_back#1", 189, 0, 0}, // divides for each row
	// Sums of clipped gradients count each product. Pairs are of rows that lie side by side, and the last rows.
	{"clipped_sums/sum_products[1]/multiply[1]/multiply[4]#2", 123, 32, 0},
	{"clipped_sums/sum_products[1]/multiply[1]/multiply[5]#2", 161, 32, 0},
	{"clipped_sums/sum_products[1]/multiply[2]/multiply[4]#2", 96, 16, 0},
	{"clipped_sums/sum_products[1]/multiply[2]/multiply[5]#2", 160, 16, 0},
	{"clipped_sums/sum_products[2]/multiply[1]/multiply[4]#2", 119, 32, 0},
	{"clipped_sums/sum_products[2]/multiply[1]/multiply[5]#2", 157, 32, 0},
	{"clipped_sums/sum_products[2]/multiply[2]/multiply[4]#2", 82, 16, 0},
	{"clipped_sums/sum_products[2]/multiply[2]/multiply[5]#2", 142, 16, 0},
	{"clipped_sums#7.1", 170, 16, 0}, // gradients that aren't products
	{"clipped_sums/sum_squares[1]#1", 22, 0, 0},
	{"clipped_sums/sum_squares[2]#1", 22, 0, 0},

	// Elements. A sum and a derivative of buffers, and the same of views.
	{"clipped_sums/walk/elementwise/choose[3]/elementwise[1]/elementwise[6]#1.1", 13, 0, 30},
	{"clipped_sums/walk/elementwise/choose[3]/elementwise[1]/elementwise[6]#2", 21, 0, 30},
	{"clipped_sums/walk/elementwise/choose[4]/elementwise[1]/elementwise[7]#1.1", 19, 0, 30},
	{"clipped_sums/walk/elementwise/choose[4]/elementwise[2]/elementwise[7]#2.1", 26, 0, 30},
	{"clipped_sums/walk/gather#1.1", 23, 0, 0},
	{"clipped_sums/walk/maxpool/maxpool[1]#1.2", 40, 0, 40}, // two by two, as the next
	{"clipped_sums/walk/step_back/maxpool_back/maxpool_back[1]#1.2", 47, 0, 40},

	{"predict/walk/conv/multiply/multiply[1]#2", 102, 64, 60},
	{"predict/walk/matmul/multiply#4", 63, 32, 0},
	{"predict/walk/matmul/multiply/multiply[3]#2", 88, 32, 0},
	{"predict/walk/product/multiply[1]/multiply[4]#2", 88, 32, 0},
	{"predict/walk/product/multiply[1]/multiply[5]#2", 137, 32, 0},
	{"predict/walk/product/multiply[2]#3", 56, 32, 60},
	{"predict/walk/product/multiply[2]/multiply[2]#2", 84, 32, 0},
	{"predict/walk/product/multiply[3]#4", 63, 32, 0},
	{"predict/walk/product/multiply[3]/multiply[3]#2", 88, 32, 0},
}

// A loop of products has this many multiply-adds on its path, or more. Exponentials have some, too.
const ofProducts = 16

// loopCounts is a line of loops.txt, of which only the counts used here are kept.
type loopCounts struct {
	instructions, multiplyAdds int // on the path
}

var loopLine = regexp.MustCompile(`^ *(\d+) +(\d+)(?: +\d+){5} \|(?: +\d+){8} (\S+)$`)

// slowLoops returns what is wrong with the lines of loops.txt: each loop that isn't within its bound, each bound's loop
// that is missing, and each loop of products that has no bound.
func slowLoops(table string, bounds []bound) (wrong []string) {
	found := map[string]loopCounts{}
	var names []string
	for line := range strings.Lines(table) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		m := loopLine.FindStringSubmatch(line)
		if m == nil {
			wrong = append(wrong, fmt.Sprintf("can't read %q", line))
			continue
		}
		instructions, _ := strconv.Atoi(m[1]) // digits
		multiplyAdds, _ := strconv.Atoi(m[2])
		name := m[3]
		if _, twice := found[name]; twice {
			wrong = append(wrong, name+" is there twice")
		}
		found[name] = loopCounts{instructions, multiplyAdds}
		names = append(names, name)
	}
	bounded := map[string]bool{}
	for _, b := range bounds {
		bounded[b.loop] = true
		l, ok := found[b.loop]
		switch {
		case !ok:
			wrong = append(wrong, b.loop+" is missing")
		case l.instructions == 0:
			wrong = append(wrong, b.loop+" has no path that isn't a loop inside")
		case b.multiplyAdds == 0 && l.instructions > b.instructions:
			wrong = append(wrong, fmt.Sprintf("%s has %d instructions, at most %d are allowed", b.loop, l.instructions, b.instructions))
		case l.instructions*b.multiplyAdds > b.instructions*l.multiplyAdds && b.multiplyAdds != 0:
			wrong = append(wrong, fmt.Sprintf("%s has %d instructions for %d multiply-adds, at most %d for %d are allowed",
				b.loop, l.instructions, l.multiplyAdds, b.instructions, b.multiplyAdds))
		}
	}
	for _, name := range names {
		if l := found[name]; l.multiplyAdds >= ofProducts && !bounded[name] {
			wrong = append(wrong, name+" has multiply-adds and no bound")
		}
	}
	return wrong
}

// The kernels' loops stay as fast as they are, by the instructions that they compile to.
func TestLoops(t *testing.T) {
	table, err := os.ReadFile("kernels/ptx/loops.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range slowLoops(string(table), loopBounds) {
		t.Error(w)
	}
	for _, b := range loopBounds {
		reached := float64(b.instructions)
		if b.multiplyAdds != 0 {
			reached *= 32 / float64(b.multiplyAdds)
		}
		if b.aim != 0 && reached > float64(b.aim) {
			t.Logf("%s: %.1f instructions, the aim is %d", b.loop, reached, b.aim)
		}
	}
}

func TestSlowLoopsAreFound(t *testing.T) {
	bounds := []bound{{"k/f#1", 60, 32, 0}, {"k/g#1", 9, 0, 0}}
	const f, g = "   60   32    8    0    5    0    0 |   70   32    8    0    5    0    0      0 k/f#1\n",
		"    9    0    8    0    5    0    0 |    9    3    8    0    5    0    0      1 k/g#1\n"
	for _, c := range []struct{ what, table, want string }{
		{"as bounded", "# head\n" + f + g, ""},
		{"twice unrolled", strings.Replace(f, "   60   32", "  120   64", 1) + g, ""},
		{"slower", strings.Replace(f, "   60", "   61", 1) + g, "k/f#1 has 61 instructions for 32 multiply-adds, at most 60 for 32 are allowed"},
		{"fewer multiply-adds", strings.Replace(f, "   32", "   31", 1) + g, "k/f#1 has 60 instructions for 31 multiply-adds, at most 60 for 32 are allowed"},
		{"no multiply-add on the path", strings.Replace(f, "   32", "    0", 1) + g, "k/f#1 has 60 instructions for 0 multiply-adds, at most 60 for 32 are allowed"},
		{"longer", f + strings.Replace(g, "    9", "   10", 1), "k/g#1 has 10 instructions, at most 9 are allowed"},
		{"no path", f + strings.Replace(g, "    9", "    0", 1), "k/g#1 has no path that isn't a loop inside"},
		{"missing", f, "k/g#1 is missing"},
		{"empty", "", "k/f#1 is missing; k/g#1 is missing"},
		{"renamed", strings.Replace(f, "k/f", "k/e", 1) + g, "k/f#1 is missing; k/e#1 has multiply-adds and no bound"},
		{"new", f + g + strings.Replace(f, "#1", "#2", 1), "k/f#2 has multiply-adds and no bound"},
		{"new, without multiply-adds", f + g + strings.ReplaceAll(strings.Replace(f, "#1", "#2", 1), "  32", "   0"), ""},
		{"new, with few multiply-adds", f + g + strings.Replace(strings.Replace(f, "#1", "#2", 1), "   32", "   15", 1), ""},
		{"twice", f + f + g, "k/f#1 is there twice"},
		{"another line", f + g + "what\n", `can't read "what"`},
	} {
		if got := strings.Join(slowLoops(c.table, bounds), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}
