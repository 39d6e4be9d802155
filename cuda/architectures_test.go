package cuda

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/cuda/internal/walk"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
)

var architectureNames = []string{"attention", "gru", "layer norm", "residual cnn"}

// The package's comment has the multiply-adds and the memory of networks of other kinds, as they follow from their
// programs.
func TestArchitecturesInTheComment(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "//	%-12s %12s %8s %8s %8s %7s\n", "", "instructions", "needs", "executes", "tile", "memory")
	for _, name := range architectureNames {
		l, err := walk.Lower(enginetest.Architectures()[name].Program(t, 2))
		if err != nil {
			t.Fatal(err)
		}
		executes, needs := multiplyAdds(l, l.Tile)
		memory := 4 * float64(l.Tile*(l.Gradient.Memory.Floats+l.Gradient.Memory.Indices))
		fmt.Fprintf(&b, "//	%-12s %12d %6.2f M %6.2f M %8d %4.1f MB\n", name, len(l.Gradient.Code)/walk.Words,
			float64(needs)/float64(l.Tile)/1e6, float64(executes)/float64(l.Tile)/1e6, l.Tile, memory/1e6)
	}
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), b.String()) {
		t.Errorf("doc.go doesn't have\n%s", b.String())
	}
}

// BenchmarkArchitectures reports how many cycles a multiprocessor takes for a sample of each network, in a whole tile,
// by the emulated device's count of the committed PTX.
func BenchmarkArchitectures(b *testing.B) {
	l, err := library()
	if err != nil {
		b.Skip(err)
	}
	for _, name := range architectureNames {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			d, err := l.Device(1)
			if err != nil {
				b.Fatal(err)
			}
			p := enginetest.Architectures()[name].Program(b, 2)
			code, err := walk.Lower(p)
			if err != nil {
				b.Fatal(err)
			}
			e := newEngine([]driver.Device{sized{Device: d, multiprocessors: 1}}, "cuda, emulated", gpuThreads, nil)
			loaded, err := e.Load(p, enginetest.RandomData(p, code.Tile, 1))
			if err != nil {
				b.Fatal(err)
			}
			runs, err := loaded.Start(jobOf(p, engine.LayoutOf(p).Join(p.Initial()), code.Tile))
			if err != nil {
				b.Fatal(err)
			}
			before := d.Counters().Busiest
			if _, _, err := inspect(runs).ClippedSum(0, allOf(code.Tile)); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(0, "ns/op") // hides the time of a loop that is empty
			b.ReportMetric(float64(d.Counters().Busiest-before)/float64(code.Tile), "cycles/sample")
			if err := errors.Join(runs.Close(), loaded.Close(), e.Close()); err != nil {
				b.Error(err)
			}
		})
	}
}
