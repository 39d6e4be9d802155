package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Every implementation of the kernels in rows.go moves and adds the same elements as plain loops, in the same order,
// and touches nothing else.
func TestRowsOfTables(t *testing.T) {
	var arenas [4]*arena
	for i := range arenas {
		arenas[i] = newArena(t)
	}
	for _, tb := range tables() {
		t.Run(tb.name, rapid.MakeCheck(func(t *rapid.T) {
			k := rapid.SampledFrom([]int{1, 3, 7, 8, 15, 16, 17, 24, 32, 40, 48}).Draw(t, "k")
			n, have, atEnd := rapid.IntRange(0, 40).Draw(t, "n"), rapid.IntRange(1, 20).Draw(t, "have"), rapid.Bool().Draw(t, "at end")
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			data, rows := kind(r.IntN(int(kinds))), arenas[2].ints(n, atEnd)
			for i := range rows {
				rows[i] = int32(r.IntN(have))
			}

			dst, table := arenas[0].slice(n*k, atEnd), arenas[1].slice(have*k, atEnd)
			fill(table, r, data)
			tb.gatherRows(dst, table, rows, k)
			want := make([]float32, n*k)
			for i := range want {
				want[i] = table[int(rows[i/k])*k+i%k]
			}
			wantSame(t, "gatherRows", dst, want)

			a := arenas[1].slice(n, atEnd)
			fill(a, r, data)
			tb.repeat(dst, a, k)
			for i := range want {
				want[i] = a[i/k]
			}
			wantSame(t, "repeat", dst, want)

			sum, long := arenas[0].slice(k, atEnd), arenas[1].slice(n*k, atEnd)
			fill(sum, r, data)
			fill(long, r, data)
			want = slices.Clone(sum)
			for i, v := range long {
				want[i%k] += v
			}
			tb.addEachRow(sum, long)
			wantSame(t, "addEachRow", sum, want)

			into := arenas[2].ints(n, atEnd)
			for i := range into {
				into[i] = int32(i)
				switch first := r.IntN(i + 1); {
				case i > 0 && r.IntN(3) == 0:
					into[i] = into[i-1] // a run, as in padding
				case i > 0 && r.IntN(2) == 0 && into[first] == int32(first):
					into[i] = int32(first)
				}
			}
			want = slices.Clone(long)
			for i, to := range into {
				if int(to) != i {
					for c := range k {
						want[int(to)*k+c] += want[i*k+c]
						want[i*k+c] = 0
					}
				}
			}
			MergeRows(long, into, k)
			wantSame(t, "MergeRows", long, want)
		}))
	}
}

// Every implementation counts products rounded once, by exact arithmetic, in the named rows.
func TestAddToRows(t *testing.T) {
	var arenas [4]*arena
	for i := range arenas {
		arenas[i] = newArena(t)
	}
	for _, tb := range tables() {
		t.Run(tb.name, rapid.MakeCheck(func(t *rapid.T) {
			k := rapid.SampledFrom([]int{1, 5, 8, 16, 24, 33, 48}).Draw(t, "k")
			n, have, atEnd := rapid.IntRange(1, 12).Draw(t, "n"), rapid.IntRange(1, 9).Draw(t, "have"), rapid.Bool().Draw(t, "at end")
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			grid := math.Ldexp(1, rapid.IntRange(-100, 100).Draw(t, "log grid"))
			x, y := float32(r.Float64()), arenas[0].slice(n*k, atEnd)
			if r.IntN(2) == 0 {
				x = 0.25
			}
			for i := range y {
				v := math.Ldexp(2*r.Float64()-1, r.IntN(25))
				if r.IntN(2) == 0 {
					v = math.Round(v*2) / 2 // with x = 1/4 often halfway
				}
				y[i] = float32(min(max(v, -0x1p22), 0x1p22) * grid)
			}
			rows, at := arenas[1].ints(n, atEnd), []int32{}
			for i := range rows {
				rows[i] = int32(r.IntN(have))
				if r.IntN(3) > 0 {
					at = append(at, int32(i))
				}
			}
			at = append(at, 0) // a row may occur twice
			sum := arenas[2].ints(have*k, atEnd)
			for i := range sum {
				sum[i] = r.Int32()
			}
			want := slices.Clone(sum)
			for _, i := range at {
				for c := range k {
					want[int(rows[i])*k+c] += steps(x, y[int(i)*k+c], grid)
				}
			}
			inFence := arenas[3].ints(len(at), atEnd)
			copy(inFence, at)
			tb.addToRows(sum, rows, x, y, k, inFence, float32(grid))
			if !slices.Equal(sum, want) {
				t.Fatalf("sum is %v, want %v", sum, want)
			}
		}))
	}
}

// Indices come from checked data. A kernel still checks them, since it would otherwise write out of bounds.
func TestRowsRefuse(t *testing.T) {
	f, sum := make([]float32, 32), make([]int32, 32)
	for name, call := range map[string]func(){
		"length of a gather":           func() { GatherRows(f[:31], f, []int32{0, 1}, 16) },
		"row of a gather":              func() { GatherRows(f, f, []int32{0, 2}, 16) },
		"negative row of a gather":     func() { GatherRows(f, f, []int32{0, -1}, 16) },
		"length of a repetition":       func() { Repeat(f, f[:3], 16) },
		"no repetition":                func() { Repeat(nil, f, 0) },
		"length of rows":               func() { AddEachRow(f[:16], f[:31]) },
		"no columns":                   func() { AddEachRow(nil, f) },
		"length of merged rows":        func() { MergeRows(f, []int32{0}, 16) },
		"row to merge into":            func() { MergeRows(f, []int32{0, 2}, 16) },
		"later row to merge into":      func() { MergeRows(f, []int32{1, 1}, 16) },
		"merged rows of no columns":    func() { MergeRows(nil, nil, 0) },
		"negative row to merge into":   func() { MergeRows(f, []int32{0, -1}, 16) },
		"length of added rows":         func() { AddToRows(sum, []int32{0}, 1, f, 16, []int32{0}, 1) },
		"row to add to":                func() { AddToRows(sum, []int32{0, 2}, 1, f, 16, []int32{1}, 1) },
		"negative row to add to":       func() { AddToRows(sum, []int32{0, -1}, 1, f, 16, []int32{1}, 1) },
		"row to add":                   func() { AddToRows(sum, []int32{0, 1}, 1, f, 16, []int32{2}, 1) },
		"negative row to add":          func() { AddToRows(sum, []int32{0, 1}, 1, f, 16, []int32{-1}, 1) },
		"grid that is no power":        func() { AddToRows(sum, []int32{0, 1}, 1, f, 16, []int32{0}, 3) },
		"grid beyond single precision": func() { AddToRows(sum, []int32{0, 1}, 1, f, 16, []int32{0}, 0x1p101) },
		"rows of no columns":           func() { AddToRows(sum, nil, 1, nil, 0, nil, 1) },
	} {
		wantPanic(t, name, call)
	}
	GatherRows(nil, f, nil, 16)
	GatherRows(nil, nil, nil, 0)
	Repeat(nil, nil, 16)
	MergeRows(nil, nil, 16)
	AddToRows(sum, []int32{0, 5}, 1, f, 16, []int32{0}, 1) // a row that isn't added may have any index
}
