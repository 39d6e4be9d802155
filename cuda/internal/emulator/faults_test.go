package emulator

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cuda/internal/driver"
)

// faultLines returns where in testdata/faults/faults.cu the lines are that end in "line: name".
func faultLines(t *testing.T) map[string]string {
	t.Helper()
	file, err := os.Open("testdata/faults/faults.cu")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := map[string]string{}
	s := bufio.NewScanner(file)
	for n := 1; s.Scan(); n++ {
		if _, name, ok := strings.Cut(s.Text(), "// line: "); ok {
			lines[name] = fmt.Sprintf("faults.cu:%d", n)
		}
	}
	return lines
}

// Every class of fault ends its launch with an error that names it, whatever the order.
func TestFaults(t *testing.T) {
	l, at := library(t, "faults"), faultLines(t)
	for seed := range uint64(5) {
		d := device(t, l, seed)
		zeros := upload(t, d, make([]int32, 256)...)
		floats := upload(t, d, make([]float32, 256)...)
		eight := alloc(t, d, 32) // of 4 bytes
		after := alloc(t, d, 32)
		freed := alloc(t, d, 32)
		if err := d.Free(freed); err != nil {
			t.Fatal(err)
		}
		number := func(p driver.Pointer) string { return fmt.Sprintf("allocation %d, argument 0, of 32 bytes", p>>40-255) }
		out := alloc(t, d, 256*4)
		empty := alloc(t, d, 32)

		for i, c := range []struct {
			kernel          string
			blocks, threads int
			arguments       []any
			want            []string // in the message
		}{
			{"dropped_barrier", 1, 256, []any{floats, out},
				[]string{"race: ", at["dropped barrier"], `shared array "part" of 1024 bytes`,
					"with no barrier between"}},
			{"dropped_global_barrier", 1, 64, []any{zeros}, []string{"race: ", "argument 0", "with no barrier between"}},
			{"divergent_barrier", 1, 64, []any{out},
				[]string{"divergent barrier: thread 0 waits at this barrier, thread 7 at the barrier of ",
					at["first barrier"], at["second barrier"]}},
			{"early_return", 3, 64, []any{out},
				[]string{"divergent barrier: thread 0 waits at this barrier, thread 5 has returned", at["early return"]}},
			{"divergent_warp", 1, 32, []any{out, int32(0)},
				[]string{"divergent warp: thread 0 waits at this lanes_where, thread 3 at the barrier of ",
					at["lane at barrier"], at["lanes at lanes_where"]}},
			{"divergent_warp", 1, 32, []any{out, int32(1)},
				[]string{"divergent warp: ", at["lane at shuffle"], at["lanes at lanes_where"]}},
			{"divergent_warp", 1, 32, []any{out, int32(2)},
				[]string{"divergent warp: ", at["lane at lanes_where"], at["lanes at lanes_where"]}},
			{"shuffle_from", 1, 32, []any{out, uint32(4)},
				[]string{"shuffle from lane 4, which has returned", at["shuffle"]}},
			{"shuffle_from", 1, 32, []any{out, uint32(32)}, []string{"shuffle from lane 32, which there isn't"}},
			{"shuffle_from", 1, 20, []any{out, uint32(20)}, []string{"shuffle from lane 20, which there isn't"}},

			{"read_at", 1, 2, []any{eight, out, int64(8)},
				[]string{`kernel "read_at", block 0, thread 1, ` + at["read"] + ": out of bounds: read of 4 bytes at offset 32 (element 8)",
					number(eight)}},
			{"read_at", 1, 2, []any{eight, out, int64(-1)},
				[]string{"out of bounds: read of 4 bytes at offset -4 (element -1)", number(eight)}},
			{"write_at", 1, 2, []any{eight, int64(8)},
				[]string{"out of bounds: write of 4 bytes at offset 32", number(eight), at["write"]}},
			{"write_at", 1, 2, []any{eight, int64(-1)},
				[]string{"out of bounds: write of 4 bytes at offset -4", number(eight)}},
			{"write_at", 1, 2, []any{eight, int64(after-eight) / 4}, []string{"out of bounds: write", number(eight)}},
			{"write_at", 1, 2, []any{eight, int64(math.MaxInt64)}, []string{"out of bounds: write", number(eight)}},
			{"write_at", 1, 2, []any{eight, int64(math.MinInt64)}, []string{"out of bounds: write", number(eight)}},
			{"move_to", 1, 2, []any{eight, int64(8)}, []string{"out of bounds: write", number(eight)}},
			{"move_to", 1, 2, []any{eight, int64(-1)}, []string{"out of bounds: write", number(eight)}},
			{"move_to", 1, 2, []any{eight, int64(after-eight) / 4}, []string{"out of bounds: write", number(eight)}},
			{"move_to", 1, 2, []any{eight, int64(math.MaxInt64)}, []string{"out of bounds: write", number(eight)}},
			{"write_at", 1, 2, []any{eight + 16, int64(4)},
				[]string{"out of bounds: write of 4 bytes at offset 32", number(eight)}},
			{"write_at", 1, 2, []any{freed, int64(0)},
				[]string{"use after free: write of 4 bytes at offset 0", number(freed)}},
			{"write_at", 1, 2, []any{driver.Pointer(0), int64(0)},
				[]string{"out of bounds: element of the null pointer", at["write"]}},
			{"write_at", 1, 2, []any{driver.Pointer(8), int64(0)}, []string{"out of bounds: element of the null pointer"}},
			{"write_at", 1, 2, []any{driver.Pointer(1 << 63), int64(0)},
				[]string{"out of bounds: element of the null pointer"}},
			{"write_at", 1, 2, []any{eight + 2, int64(0)},
				[]string{"misaligned: write of 4 bytes at offset 2", number(eight)}},
			{"write_double", 1, 1, []any{eight + 4}, []string{"misaligned: write of 8 bytes at offset 4", number(eight)}},
			{"write_double", 1, 1, []any{eight + 28},
				[]string{"out of bounds: write of 8 bytes at offset 28", number(eight)}},

			{"shared_at", 1, 1, []any{out, int64(8)},
				[]string{`out of bounds: write of 4 bytes at offset 32 (element 8) of shared array "small" of 32 bytes`}},
			{"shared_at", 1, 1, []any{out, int64(-1)}, []string{`out of bounds: write`, `shared array "small"`}},
			{"shared_unwritten", 1, 8, []any{out},
				[]string{"thread 2, ",
					`never written: read of 4 bytes at offset 8 (element 2) of shared array "cells" of 32 bytes`}},
			{"shared_kept", 2, 1, []any{out},
				[]string{"block 1, ", `never written: read of 4 bytes at offset 0 (element 0) of shared array "cells"`}},
			{"shared_too_much", 1, 1, []any{out},
				[]string{`too much shared memory: no room for "bigger" of 32768 bytes; a block has 49152`}},
			{"read_at", 1, 2, []any{empty, out, int64(3)},
				[]string{"never written: read of 4 bytes at offset 12 (element 3)", number(empty)}},
			{"atomic_unwritten", 1, 1, []any{empty}, []string{"never written: atomic_add of 4 bytes at offset 0"}},

			{"blocks_write", 8, 32, []any{out},
				[]string{"race between blocks: write of 4 bytes at offset 0", "which block ", "wrote in the same launch"}},
			{"blocks_read", 8, 32, []any{zeros, out}, []string{"race between blocks: ", "in the same launch"}},
			{"increment", 1, 8, []any{zeros},
				[]string{"race: ", "argument 0, of 1024 bytes, which thread ", "with no barrier between"}},
			{"block_increment", 8, 8, []any{zeros}, []string{"race between blocks: ", "in the same launch"}},
			{"mixed_atomics", 1, 8, []any{zeros, out}, []string{"race: ", "with no barrier between"}},
			{"mixed_blocks", 8, 1, []any{zeros, out}, []string{"race between blocks: ", "in the same launch"}},

			{"no_such", 1, 1, nil, []string{`kernel "no_such": there is no such kernel`}},
			{"write_at", 1, 1, []any{eight}, []string{`kernel "write_at": 1 arguments: it takes 2`}},
			{"write_at", 1, 1, []any{eight, int64(0), int64(0)}, []string{`kernel "write_at": 3 arguments: it takes 2`}},
			{"write_at", 1, 1, []any{eight, int32(0)},
				[]string{`kernel "write_at": argument 1 is an int32: it takes an int64`}},
			{"write_at", 1, 1, []any{uint64(eight), int64(0)},
				[]string{`kernel "write_at": argument 0 is a uint64: it takes a pointer`}},
			{"write_at", 1, 1, []any{eight, 0},
				[]string{`kernel "write_at": argument 1 is of type int: want driver.Pointer, int32`}},
			{"write_at", 1, 1025, []any{eight, int64(0)}, []string{"1025 threads in a block: want 1 to 1024"}},
			{"write_at", 0, 1, []any{eight, int64(0)}, []string{"0 blocks: want 1 to 2147483647"}},
			{"write_at", -1, 1, []any{eight, int64(0)}, []string{"-1 blocks of 1 threads"}},
		} {
			err := d.Launch(c.kernel, c.blocks, c.threads, c.arguments...)
			if err == nil {
				t.Errorf("seed %d, case %d, %s: no error, want %q", seed, i, c.kernel, c.want)
				continue
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("seed %d, case %d: error %q, want %q", seed, i, err, want)
				}
			}
		}
		// And the device is as good as before.
		launch(t, d, "write_at", 1, 2, eight, int64(7))
	}
}

// The random order shows a dropped barrier by itself: with all watching off the results are wrong.
func TestOrderShowsDroppedBarriers(t *testing.T) {
	l := library(t, "faults")
	wrong := map[string]int{}
	for seed := range uint64(10) {
		d := device(t, l, seed, Races, Unwritten)
		ones, out := upload(t, d, slices.Repeat([]float32{1}, 256)...), alloc(t, d, 4)
		launch(t, d, "dropped_barrier", 1, 256, ones, out)
		if download[float32](t, d, out, 1)[0] != 256 {
			wrong["dropped_barrier"]++
		}
		ring := make([]int32, 64)
		for i := range ring {
			ring[i] = int32(i)
		}
		p := upload(t, d, ring...)
		launch(t, d, "dropped_global_barrier", 1, 64, p)
		for i, v := range download[int32](t, d, p, 64) {
			if v != int32((i+1)%64) {
				wrong["dropped_global_barrier"]++
				break
			}
		}
	}
	// Right by chance only if all of a thread's elders run before it, which 64 threads do once in 64!.
	for _, kernel := range []string{"dropped_barrier", "dropped_global_barrier"} {
		if wrong[kernel] != 10 {
			t.Errorf("%s: wrong for %d of 10 seeds", kernel, wrong[kernel])
		}
	}
}

// Without its check each fault passes, so that it is this check that finds it.
func TestUncheckedFaultsPass(t *testing.T) {
	l := library(t, "faults")
	d := device(t, l, 1, Races)
	zeros := upload(t, d, make([]int32, 8)...)
	for _, kernel := range []string{"increment", "block_increment"} {
		launch(t, d, kernel, 8, 8, zeros)
	}
	if got := download[int32](t, d, zeros, 1); got[0] != 8*8+8 {
		t.Errorf("%d increments", got[0])
	}
	d = device(t, l, 1, Unwritten)
	out := alloc(t, d, 8*4)
	launch(t, d, "shared_unwritten", 1, 8, out)
	if got := download[int32](t, d, out, 3); got[2] != -1 {
		t.Errorf("unwritten memory holds %d, want the poison", got[2])
	}
}

func TestFaultsOfTheHost(t *testing.T) {
	d := device(t, library(t, "faults"), 1)
	p, freed := alloc(t, d, 32), alloc(t, d, 32)
	if err := d.Free(freed); err != nil {
		t.Fatal(err)
	}
	if err := d.Upload(p, 8, make([]byte, 9)); err != nil {
		t.Error(err)
	}
	if err := d.Download(make([]byte, 5), p+10, 2); err != nil {
		t.Error(err)
	}
	all := make([]byte, 32)
	for want, err := range map[string]error{
		"upload: out of bounds: 32 bytes at offset 1 of allocation 1 of 32 bytes":    d.Upload(p, 1, all),
		"upload: out of bounds: 32 bytes at offset -1 of allocation 1 of 32 bytes":   d.Upload(p, -1, all),
		"upload: out of bounds: 0 bytes at offset 33 of allocation 1 of 32 bytes":    d.Upload(p, 33, nil),
		"download: out of bounds: 32 bytes at offset 16 of allocation 1 of 32 bytes": d.Download(all, p+16, 0),
		"download: never written: some of 10 bytes at offset 8 of allocation 1":      d.Download(all[:10], p, 8),
		"clear: out of bounds: 33 bytes at offset 0 of allocation 1 of 32 bytes":     d.Clear(p, 0, 33),
		"clear: -1 bytes": d.Clear(p, 0, -1),
		"upload: use after free: allocation 2 of 32 bytes": d.Upload(freed, 0, all),
		"free: use after free: allocation 2 of 32 bytes":   d.Free(freed),
		"free: offset 8 of an allocation isn't its start":  d.Free(p + 8),
		"free: address 0 isn't of any allocation":          d.Free(0),
		"upload: address 0x1 isn't of any allocation":      d.Upload(1, 0, all),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	for _, bytes := range []int{0, -1, math.MaxInt64, 1 << 45} {
		if _, err := d.Alloc(bytes); err == nil {
			t.Errorf("alloc of %d bytes: no error", bytes)
		}
	}
}

// A launch is over before the next: what blocks of different launches do is no race.
func TestLaunchesAreInOrder(t *testing.T) {
	d := device(t, library(t, "faults"), 1)
	p := upload(t, d, int32(0))
	for i := range 10 {
		launch(t, d, "block_increment", 1, 8, p)
		if got := download[int32](t, d, p, 1); got[0] != int32(i+1) {
			t.Errorf("%d increments after %d launches", got[0], i+1)
		}
	}
}
