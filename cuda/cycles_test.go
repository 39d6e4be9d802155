package cuda

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/cuda/internal/emulator"
	"github.com/dptrain/dptrain/cuda/internal/walk"
)

// prefix is a device on which clipped_sums executes only the first instructions of a program.
type prefix struct {
	*emulator.Device
	instructions int32
}

// Info says that one block does all work.
func (p *prefix) Info() driver.Info {
	info := p.Device.Info()
	info.Multiprocessors = 1
	return info
}

func (p *prefix) Launch(kernel string, blocks, threads int, arguments ...any) error {
	if program, ok := arguments[0].(driver.Struct); ok && kernel == "clipped_sums" {
		const word = 5 // its low half is the number of instructions; see program.cuh
		cut := slices.Clone(program)
		cut[word] = cut[word]>>32<<32 | uint64(uint32(p.instructions))
		arguments[0] = cut
	}
	return p.Device.Launch(kernel, blocks, threads, arguments...)
}

// names are the operations by opcode.
func names() map[int32]string {
	out := map[int32]string{}
	for i, name := range strings.Fields("unary binary scalar matmul conv maxpool gather scatter softmax logsoftmax fill unary_back " +
		"binary_back scalar_back matmul_back conv_back maxpool_back softmax_back logsoftmax_back grad_matmul grad_conv lookup grad_lookup merge") {
		out[int32(i)] = name
	}
	return out
}

// BenchmarkCycles reports how many cycles each instruction of a model's program takes for a tile of five samples, by
// the emulated device's count, and its norms and sums: what a change of the kernels makes faster.
func BenchmarkCycles(b *testing.B) {
	l, err := library()
	if errors.Is(err, emulator.ErrNoCompiler) {
		b.Skip(err)
	}
	if err != nil {
		b.Fatal(err)
	}
	const samples = 5
	for _, model := range []string{"cnn", "mlp", texts} {
		d, err := l.Device(1)
		if err != nil {
			b.Fatal(err)
		}
		device := &prefix{Device: d}
		p, initial := network(b, model)
		code, err := walk.Lower(p)
		if err != nil {
			b.Fatal(err)
		}
		loaded, err := newEngine([]driver.Device{device}, "cuda, emulated", gpuThreads, nil).Load(p, dataOf(model)(p, samples, 1))
		if err != nil {
			b.Fatal(err)
		}
		runs, err := loaded.Start(jobOf(p, initial, samples))
		if err != nil {
			b.Fatal(err)
		}
		list := code.Gradient.Code
		last := len(list) / walk.Words
		taken := func(n int) uint64 {
			device.instructions = int32(n)
			before := d.Counters().Busiest
			if _, _, err := inspect(runs).ClippedSum(0, allOf(samples)); err != nil {
				b.Fatal(err)
			}
			return d.Counters().Busiest - before
		}
		taken(last) // so that each prefix finds what it doesn't compute
		before := taken(0)
		b.Run(fmt.Sprintf("%s/norms and sums", model), func(b *testing.B) { b.ReportMetric(float64(before), "cycles") })
		for i := range last {
			after := taken(i + 1)
			c := list[i*walk.Words:]
			b.Run(fmt.Sprintf("%s/%02d %s %d", model, i, names()[c[walk.WordOp]], c[walk.WordSize]), func(b *testing.B) {
				b.ReportMetric(float64(int64(after)-int64(before)), "cycles")
			})
			before = after
		}
		if err := errors.Join(runs.Close(), loaded.Close()); err != nil {
			b.Error(err)
		}
	}
}
