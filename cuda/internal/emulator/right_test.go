package emulator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/cuda/internal/driver"
)

// headers has device.cuh.
var headers = os.DirFS("../../kernels")

// library compiles a folder of testdata, or skips where nothing can be compiled.
func library(t testing.TB, folder string, extra ...string) *Library {
	t.Helper()
	l, err := Build(context.Background(), headers, os.DirFS("testdata/"+folder), extra...)
	if errors.Is(err, ErrNoCompiler) {
		t.Skipf("no emulated device here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func device(t testing.TB, l *Library, seed uint64, unchecked ...Unchecked) *Device {
	t.Helper()
	d, err := l.Device(seed, unchecked...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func upload[T driver.Number](t testing.TB, d *Device, numbers ...T) driver.Pointer {
	t.Helper()
	p, err := driver.New(d, numbers)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func download[T driver.Number](t testing.TB, d *Device, p driver.Pointer, n int) []T {
	t.Helper()
	numbers := make([]T, n)
	if err := driver.Download(d, numbers, p, 0); err != nil {
		t.Fatal(err)
	}
	return numbers
}

func alloc(t testing.TB, d *Device, bytes int) driver.Pointer {
	t.Helper()
	p, err := d.Alloc(bytes)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func launch(t testing.TB, d *Device, kernel string, blocks, threads int, arguments ...any) {
	t.Helper()
	if err := d.Launch(kernel, blocks, threads, arguments...); err != nil {
		t.Fatal(err)
	}
}

// Both ways to switch between threads do the same.
var switches = map[string][]string{"own": nil, "ucontext": {"-DEMULATED_UCONTEXT"}}

func TestRightKernels(t *testing.T) {
	for name, extra := range switches {
		t.Run(name, func(t *testing.T) {
			l := library(t, "right", extra...)
			for seed := range uint64(5) {
				testRightKernels(t, device(t, l, seed))
			}
		})
	}
}

func testRightKernels(t *testing.T, d *Device) {
	random := rand.New(rand.NewPCG(1, 2))

	const n = 1000
	a, b, sum := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range n {
		a[i], b[i] = float32(random.IntN(100)), float32(random.IntN(100))
		sum[i] = a[i] + b[i]
	}
	pa, pb, out := upload(t, d, a...), upload(t, d, b...), alloc(t, d, 4*n)
	launch(t, d, "add", 4, 256, pa, pb, out, int32(n))
	if got := download[float32](t, d, out, n); !slices.Equal(got, sum) {
		t.Errorf("add: %v", cmp.Diff(sum, got))
	}

	var want [4]float32
	for i, x := range a {
		want[i/256] += x
	}
	launch(t, d, "reduce", 4, 256, pa, out, int32(n))
	if got := download[float32](t, d, out, 4); !slices.Equal(got, want[:]) {
		t.Errorf("reduce: %v, want %v", got, want)
	}

	values, counts := make([]uint8, 5000), make([]uint32, 256)
	for i := range values {
		values[i] = uint8(random.IntN(40))
		counts[values[i]]++
	}
	p, pc := upload(t, d, values...), alloc(t, d, 4*256)
	if err := d.Clear(pc, 0, 4*256); err != nil {
		t.Fatal(err)
	}
	launch(t, d, "histogram", 7, 100, p, pc, int32(len(values)))
	if got := download[uint32](t, d, pc, 256); !slices.Equal(got, counts) {
		t.Errorf("histogram: %v", cmp.Diff(counts, got))
	}

	for _, n := range []int{5, 32, 33, 100} {
		in, kept := make([]int32, n), []int32{}
		for i := range in {
			in[i] = int32(random.IntN(100))
			if in[i] > 50 {
				kept = append(kept, in[i])
			}
		}
		out, count := alloc(t, d, 4*n), alloc(t, d, 4)
		launch(t, d, "compact", 1, 32, upload(t, d, in...), out, count, int32(50), int32(n))
		got := download[int32](t, d, count, 1)
		if got := download[int32](t, d, out, int(got[0])); !slices.Equal(got, kept) {
			t.Errorf("compact: %v, want %v", got, kept)
		}
	}

	doubles, sums := make([]float64, 64), [2]float64{}
	for i := range doubles {
		doubles[i] = float64(random.IntN(1000))
		sums[i/32] += doubles[i]
	}
	out, bits := alloc(t, d, 8*64), alloc(t, d, 8*64)
	launch(t, d, "warp_sums", 1, 64, upload(t, d, doubles...), out, bits)
	word := download[uint64](t, d, bits, 64)
	for i, got := range download[float64](t, d, out, 64) {
		if got != sums[i/32] || word[i] != math.Float64bits(got) {
			t.Errorf("warp sum %d: %v, bits %x, want %v", i, got, word[i], sums[i/32])
		}
	}

	ring := make([]int32, 200)
	for i := range ring {
		ring[i] = int32(i)
	}
	p = upload(t, d, ring...)
	launch(t, d, "rotate", 1, 200, p, int32(13))
	for i, got := range download[int32](t, d, p, 200) {
		if got != int32((i+13)%200) {
			t.Errorf("rotate: element %d is %d", i, got)
		}
	}

	p = alloc(t, d, 16)
	tables := upload(t, d, upload[int32](t, d, 1, 2, 3, 4), 0, upload[int32](t, d, 5, 6, 7, 8), 0)
	launch(t, d, "totals", 1, 4, tables, p)
	if diff := cmp.Diff([]int32{9 + 14, 14, 21 + 14, 14}, download[int32](t, d, p, 4)); diff != "" {
		t.Errorf("totals: %s", diff)
	}

	p = alloc(t, d, 4)
	launch(t, d, "other_counted", 1, 1, p)
	if got := download[uint32](t, d, p, 1); got[0] != 2 {
		t.Errorf("other_counted: %d: the function of another source", got[0])
	}
	launch(t, d, "nothing", 3, 1024)
}

// a*b + c is two roundings, fma is one: also where the machine has no such instruction.
func TestRoundings(t *testing.T) {
	d := device(t, library(t, "right"), 1)
	a, b, c := 1+0x1p-30, 1-0x1p-30, -1.0
	x, y, z := float32(1+0x1p-13), float32(1-0x1p-13), float32(-1)
	out, single := alloc(t, d, 16), alloc(t, d, 8)
	launch(t, d, "fuse", 1, 1, upload(t, d, a, b, c), out, upload(t, d, x, y, z), single)
	if diff := cmp.Diff([]float64{0, math.FMA(a, b, c)}, download[float64](t, d, out, 2)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float32{0, -0x1p-26}, download[float32](t, d, single, 2)); diff != "" {
		t.Error(diff)
	}
}

func TestArgumentsOfAllTypes(t *testing.T) {
	d := device(t, library(t, "right"), 1)
	out := alloc(t, d, 8*8)
	launch(t, d, "types", 1, 1, out, int32(-5), uint32(math.MaxUint32), int64(-1<<40), uint64(1<<63), float32(0.5), 0.25)
	want := []float64{-5, math.MaxUint32, -1 << 40, 1 << 63, 0.5, 0.75, -2.75, -3.75}
	if diff := cmp.Diff(want, download[float64](t, d, out, 8)); diff != "" {
		t.Error(diff)
	}
}

type pair struct {
	out driver.Pointer
	a   float32
	b   int32
}

type largest struct {
	_    [15]float64
	c, d int32
}

func TestArgumentsThatAreStructs(t *testing.T) {
	d := device(t, library(t, "right"), 1)
	out := alloc(t, d, 3*8)
	p, l := driver.StructOf(&pair{out, 0.5, -7}), driver.StructOf(&largest{c: 1 << 30, d: 3})
	launch(t, d, "structs", 1, 1, p, int32(9), l)
	if diff := cmp.Diff([]float64{0.5, 2, 1<<30 - 3}, download[float64](t, d, out, 3)); diff != "" {
		t.Error(diff)
	}
	short := driver.StructOf(&pair{out: out + 8})
	for want, arguments := range map[string][]any{
		"argument 2 has 16 bytes: it takes 128":                {p, int32(9), short},
		"argument 0 is a pointer: it takes a struct":           {out, int32(9), l},
		"argument 1 is a struct: it takes an int32":            {p, p, l},
		"2 arguments: it takes 3":                              {p, l},
		"(element 3) of allocation 1, argument 0, of 24 bytes": {driver.StructOf(&pair{out: out + 24}), int32(9), l},
		"out of bounds: element of the null pointer":           {driver.StructOf(&pair{}), int32(9), l},
	} {
		if err := d.Launch("structs", 1, 1, arguments...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// orders returns the order of threads and blocks on a device with this seed, for two launches.
func orders(t *testing.T, l *Library, seed uint64) (all [2][]uint32) {
	d := device(t, l, seed)
	for i := range all {
		out := alloc(t, d, 4*4*16)
		launch(t, d, "order", 4, 16, upload[uint32](t, d, 0), out)
		all[i] = download[uint32](t, d, out, 4*16)
	}
	return all
}

func TestSeedDecidesOrder(t *testing.T) {
	l := library(t, "right")
	seen := map[string]bool{}
	blocks := map[uint32]bool{}
	for seed := range uint64(10) {
		first, again := orders(t, l, seed), orders(t, l, seed)
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("seed %d: not the same again: %s", seed, diff)
		}
		for _, o := range first {
			seen[fmt.Sprint(o)] = true
			blocks[o[0]/16] = true
		}
	}
	// Of 20 orders of 4 blocks and 16 threads, two are the same with probability below 1e-10. That block 0 isn't in
	// each of 4 positions once: 4·(3/4)^20 = 1.3 %, but the seeds are fixed.
	if len(seen) != 20 || len(blocks) != 4 {
		t.Errorf("%d orders, block 0 in %d places", len(seen), len(blocks))
	}
}

func TestDevicesSideBySide(t *testing.T) {
	l := library(t, "right")
	shared := device(t, l, 100)
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			own, err := l.Device(uint64(g))
			if err != nil {
				t.Error(err)
				return
			}
			defer own.Close()
			for _, d := range []*Device{own, shared} {
				for range 10 {
					in, err := driver.New(d, slices.Repeat([]float32{float32(g)}, 256))
					if err != nil {
						t.Error(err)
						return
					}
					sum := make([]float32, 1)
					err = errors.Join(d.Launch("reduce", 1, 256, in, in, int32(256)), driver.Download(d, sum, in, 0), d.Free(in))
					if err != nil || sum[0] != 256*float32(g) {
						t.Errorf("%s: sum %v, error %v", d.Info().Name, sum[0], err)
					}
				}
			}
		})
	}
	group.Wait()
}

func TestCounters(t *testing.T) {
	d := device(t, library(t, "right"), 1)
	p := alloc(t, d, 4)
	launch(t, d, "reduce", 2, 64, upload(t, d, make([]float32, 128)...), alloc(t, d, 8), int32(128))
	launch(t, d, "order", 2, 8, upload[uint32](t, d, 0), alloc(t, d, 64))
	want := Counters{Launches: 2, BytesRead: 4 * 128, BytesWritten: 8 + 64, Atomics: 16, Barriers: 2 * 7}
	if diff := cmp.Diff(want, d.Counters()); diff != "" {
		t.Error(diff)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if err := d.Free(p); !errors.Is(err, errClosed) {
		t.Errorf("free on a closed device: %v", err)
	}
}

func TestBuildSaysWhatIsWrong(t *testing.T) {
	library(t, "right") // or skip
	for folder, want := range map[string]string{
		"twice":   `kernel "same" is exported twice, by `,
		"broken":  "broken.cu:6",
		"nowhere": "kernels: no file *.cu",
	} {
		_, err := Build(context.Background(), headers, os.DirFS("testdata/"+folder))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", folder, err, want)
		}
	}
	t.Setenv("CXX", "no-such-compiler -O3")
	if _, err := Build(context.Background(), headers, os.DirFS("testdata/right")); !errors.Is(err, ErrNoCompiler) {
		t.Errorf("no compiler: %v", err)
	}
	t.Setenv("CXX", "")
	t.Setenv("PATH", t.TempDir())
	if _, err := Build(context.Background(), headers, os.DirFS("testdata/right")); !errors.Is(err, ErrNoCompiler) {
		t.Errorf("no compiler: %v", err)
	}
}

// Without a cache folder, compiled kernels last as long as the process.
func TestBuildWithoutHome(t *testing.T) {
	for _, v := range []string{"HOME", "XDG_CACHE_HOME"} {
		t.Setenv(v, "")
	}
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	d := device(t, library(t, "right"), 1)
	launch(t, d, "nothing", 1, 1)
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func BenchmarkAccesses(b *testing.B) {
	d := device(b, library(b, "right"), 1)
	const n = 1 << 18
	x := upload(b, d, make([]float32, n)...)
	y := upload(b, d, make([]float32, n)...)
	b.ResetTimer()
	for range b.N {
		launch(b, d, "add", n/256, 256, x, x, y, int32(n))
	}
	b.ReportMetric(3*n*float64(b.N)/b.Elapsed().Seconds()/1e6, "Maccesses/s")
}

func BenchmarkReads(b *testing.B) {
	d := device(b, library(b, "right"), 1)
	const n, threads = 1 << 12, 128
	x := upload(b, d, make([]float32, n)...)
	y := alloc(b, d, 4*threads)
	b.ResetTimer()
	for range b.N {
		launch(b, d, "reads", 1, threads, x, y, int32(n))
	}
	b.ReportMetric(2*n*threads*float64(b.N)/b.Elapsed().Seconds()/1e6, "Maccesses/s")
}

func BenchmarkReduce(b *testing.B) {
	d := device(b, library(b, "right"), 1)
	const n = 1 << 16
	x := upload(b, d, make([]float32, n)...)
	y := alloc(b, d, n/256*4)
	b.ResetTimer()
	for range b.N {
		launch(b, d, "reduce", n/256, 256, x, y, int32(n))
	}
	// Each thread passes 9 barriers.
	b.ReportMetric(9*n*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mwaits/s")
}
