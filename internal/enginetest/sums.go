package enginetest

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// exact checks that sums are multiples of the fine grid, below 2⁵¹ of it, and the same every time.
func exact(t TB, s Suite) {
	for name, p := range map[string]*compile.Program{"layers": MLP(t, 9, 7, 5), "rows of a table": gathering(t, 5, 9, 7)} {
		const samples = 700
		for _, clip := range []float64{0.5, 1e-9, 3e8} {
			j := plain(p, clip)
			runs, done := s.start(t, p, RandomData(p, samples, 5), j)
			defer done()
			fine := j.Mechanism.Grid(samples).Fine
			for _, batch := range [][]int32{{3}, {0, 699}, allOf(40), allOf(65), allOf(samples)} {
				sum, _ := s.clippedSum(t, runs, 0, batch)
				for k, v := range sum {
					if n := v / fine; n != math.Trunc(n) || math.Abs(n) > 0x1p51 {
						t.Fatalf("%s, clip %v, %d samples: coordinate %d sums to %v times the fine grid", name, clip, len(batch), k, n)
					}
				}
				for range 3 {
					if again, _ := s.clippedSum(t, runs, 0, batch); !slices.Equal(again, sum) {
						t.Fatalf("%s, clip %v, %d samples: two sums over one batch differ", name, clip, len(batch))
					}
				}
			}
		}
	}
}

// additive checks that the sum over a batch is the sum of what each of its samples contributes, to the last bit, and
// that no contribution is above 2²² times the fine grid: of gradients of any direction, of such as all contribute the
// most in one direction, which fill the integers that an engine may add in, and of rows of a table.
func additive(t TB, s Suite) {
	const samples = 1300
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name   string
		p      *compile.Program
		period int // of the samples, which repeat
	}{
		{"product", product(t, 5, 4), 65}, {"one number", product(t, 1, 1), 1}, {"broadcast", inner(t, 1), 1}, {"rows of a table", gathering(t, 2, 3, 1), 1},
	} {
		data := RandomData(c.p, samples, 5)
		for k, in := range c.p.Inputs {
			column := data.Columns[k]
			for i := range column.Floats {
				if c.period == 1 {
					column.Floats[i] = 100
				} else if from := i - c.period*in.Size; from >= 0 {
					column.Floats[i] = column.Floats[from]
				}
			}
			for i := range column.Ints {
				column.Ints[i] = 1
			}
		}
		for _, clip := range []float64{0.7, math.Nextafter(2, 0)} {
			j := plain(c.p, clip)
			runs, done := s.start(t, c.p, data, j)
			fine := j.Mechanism.Grid(samples).Fine
			each := make([][]float64, c.period)
			for i := range each {
				each[i], _ = s.clippedSum(t, runs, 0, []int32{int32(i)})
				for _, v := range each[i] {
					if !(math.Abs(v) <= 0x1p22*fine) {
						t.Fatalf("%s: sample %d contributes %v times the fine grid", c.name, i, v/fine)
					}
				}
			}
			for _, of := range []int{0, 1, 2, 47, 48, 49, 64, 65, 200, 511, 512, 513, 1023, samples - 1, samples} {
				batch := drawn(r, samples, of)
				want := make([]float64, len(j.Initial))
				for _, i := range batch {
					for k, v := range each[int(i)%c.period] {
						want[k] += v
					}
				}
				if got, _ := s.clippedSum(t, runs, 0, batch); !slices.Equal(got, want) {
					t.Errorf("%s, clip %v: the sum of %d samples isn't the sum of what each contributes", c.name, clip, of)
				}
			}
			done()
		}
	}
}

// alone checks that a sample's gradient is independent: its norm is the same, to the bit, beside any other samples and
// at any index, and a sum is the sum of what each sample contributes by itself, to the bit too.
func alone(t TB, s Suite) {
	zoo := Zoo()
	for i, name := range slices.Sorted(maps.Keys(zoo)) {
		if s.Short && (i%3 > 0 || name == "cnn") {
			continue
		}
		p := zoo[name].Program(t, 1)
		const samples, clip = 83, 2
		data := RandomData(p, samples, 7)
		// One sample at several indices.
		copies := []int32{0, 5, 6, 31, 32, 40, 63, 64, 77, 82}
		if p.Draws > 0 {
			copies = []int32{5} // samples drop by their numbers
		}
		for k, in := range p.Inputs {
			c := data.Columns[k]
			for _, at := range copies {
				to, from := part(c, int(at)*in.Size, (int(at)+1)*in.Size), part(c, 5*in.Size, 6*in.Size)
				copy(to.Floats, from.Floats)
				copy(to.Ints, from.Ints)
			}
		}
		j := plain(p, clip)
		runs, done := s.start(t, p, data, j)
		all, _ := s.clippedSum(t, runs, 0, allOf(samples))
		single, sums := map[int32]float64{}, map[int32][]float64{}
		apart := make([]float64, len(all))
		for _, i := range allOf(samples) {
			sum, norm := s.clippedSum(t, runs, 0, []int32{i})
			single[i], sums[i] = norm[0], sum
			for k, v := range sum {
				apart[k] += v
			}
		}
		for _, batch := range [][]int32{allOf(samples), allOf(33), allOf(samples)[1:], allOf(samples)[17:], copies, {5, 77}} {
			_, norms := s.clippedSum(t, runs, 0, batch)
			if len(norms) != len(batch) {
				t.Fatalf("%s: %d norms of %d samples", name, len(norms), len(batch))
			}
			for k, i := range batch {
				if math.Float64bits(norms[k]) != math.Float64bits(single[i]) {
					t.Errorf("%s: in a batch of %d the squared norm of sample %d is %v, alone %v", name, len(batch), i, norms[k], single[i])
				}
			}
		}
		for _, i := range copies {
			if !slices.Equal(sums[i], sums[5]) {
				t.Errorf("%s: the same sample has another gradient at index %d than at 5", name, i)
			}
			if single[i] != single[5] {
				t.Errorf("%s: the same sample has squared norm %v at index 5, %v at %d", name, single[5], single[i], i)
			}
		}
		if !slices.Equal(all, apart) {
			t.Errorf("%s: the sum of %d samples isn't that of each by itself", name, samples)
		}
		done()
	}
}

// clipping checks single samples' contributions, to the bit: their gradient times the clip factor of its norm, by both
// rules; and nothing if the factor is below 2⁻¹⁰⁰, if a factor of the gradient is beyond 2⁶⁰, or if there is no norm at
// all. At most one of a gradient's two numbers isn't a power of two, so that there is one right answer. Runs with and
// without noise have different grids.
func clipping(t TB, s Suite) {
	clippedVectors(t, s)
	inf := math.Inf(1)
	// A norm that is exact to a relative 2⁻¹⁸ is beyond the limit here.
	const beyond = 0x1p60 * (1 + 0x1p-16)
	type sample struct{ x, y float64 }
	samples := map[float64][]sample{
		1: {
			{0.5, 1}, {1, 1}, {2, 1}, {3, 1}, {-1e3, 1}, {0, 1}, {0x1p-70, 0x1p60}, {0x1p60, 0x1p-70}, {0x1p60, 0x1p-10}, {0x1p60, 1},
			{0x1p49, 0x1p49}, {0x1p49, 0x1p50}, {0x1p50, 0x1p50}, {0x1p50, 0x1p51}, {0x1p55, 0x1p55}, {0x1p60, 0x1p60},
			{beyond, 0x1p-60}, {0x1p-60, beyond}, {beyond, 1}, {0x1p61, 0x1p-61}, {0x1p-61, 0x1p61}, {0x1p100, 0x1p-100},
			{0, 0x1p61}, {0x1p61, 0}, {0, inf}, {inf, 0}, {0, math.NaN()}, {math.NaN(), 0}, {1, inf}, {inf, 1}, {1, math.NaN()}, {math.NaN(), 1},
		},
		1e-9:   {{5, 1}, {0x1p-34, 1}, {0x1p-80, 0x1p54}, {0x1p54, 0x1p-80}},
		0x1p39: {{5e8, 2}, {0x1p39, 4}, {0x1p-30, 1}},
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 30 {
		samples[1] = append(samples[1], sample{float64(float32(math.Exp(10 * r.Float64()))), 1})
	}
	for clip, all := range samples {
		var xs, ys []float32
		for _, v := range all {
			xs, ys = append(xs, float32(v.x)), append(ys, float32(v.y))
		}
		for name, p := range map[string]*compile.Program{"product": product(t, 1, 1), "broadcast": inner(t, 1)} {
			data := &engine.Data{Samples: len(all), Columns: engine.Floats(xs, ys)}
			if name == "broadcast" {
				data.Columns = data.Columns[:1]
			}
			for i, j := range slices.Repeat(byBothRules(p, clip), 2) {
				noise, stability := 1.1*float64(i/2), 0.0
				if j.Mechanism.Automatic {
					stability = 0.01
				}
				j.Mechanism.NoiseMultiplier = noise
				fine := j.Mechanism.Grid(len(all)).Fine
				runs, done := s.start(t, p, data, j)
				for i, v := range all {
					if name == "broadcast" {
						v.y = 1
					}
					sum, squared := s.clippedSum(t, runs, 0, []int32{int32(i)})
					norm := math.Abs(v.x * v.y)
					usable := math.Abs(v.x) <= 0x1p60 && math.Abs(v.y) <= 0x1p60
					if usable && !(math.Abs(squared[0]-norm*norm) <= 0x1p-17*norm*norm) || !usable && !(math.IsInf(squared[0], 1) || math.IsNaN(squared[0])) {
						t.Errorf("%s: the squared norm of %v times %v is %v", name, v.x, v.y, squared[0])
					}
					want := 0.0
					limit := (clip - math.Sqrt(float64(len(j.Initial)))*fine) / (1 + 0x1p-16)
					switch factor := limit / (math.Sqrt(squared[0]) + stability); {
					case !usable:
					case stability == 0 && norm <= limit:
						want = v.x * v.y
					case factor >= 0x1p-100:
						want = v.x * float64(float32(factor)*float32(v.y)) // for a y that is 1 the factor, unrounded
					}
					if !s.rounds(sum[0]/fine, want/fine) {
						t.Errorf("%s: clipped to %v, plus %v, with noise %v, %v times %v contributes %v, want about %v", name, clip, stability, noise, v.x, v.y, sum[0], want)
					}
				}
				done()
			}
		}
	}
}

// clippedVectors checks the same for gradients whose norms single precision can't represent.
func clippedVectors(t TB, s Suite) {
	const size, samples = 5, 40
	for name, p := range map[string]*compile.Program{"product": product(t, size, 1), "broadcast": inner(t, size)} {
		data := RandomData(p, samples, 6)
		for k := range samples * (len(p.Inputs) - 1) {
			data.Columns[1].Floats[k] = 1
		}
		j := plain(p, 0.3)
		fine := j.Mechanism.Grid(samples).Fine
		runs, done := s.start(t, p, data, j)
		for i := range samples {
			sum, squared := s.clippedSum(t, runs, 0, []int32{int32(i)})
			x := data.Columns[0].Floats[i*size : (i+1)*size]
			length := distance(converted[float64](x), make([]float64, size))
			if !(math.Abs(math.Sqrt(squared[0])-length) <= 0x1p-18*length) {
				t.Errorf("%s: the squared norm of %v is %v", name, x, squared[0])
			}
			factor := float32(1)
			if norm := math.Sqrt(squared[0]); norm > clipTo(j, samples) {
				factor = float32(clipTo(j, samples) / norm)
			}
			for k, got := range split(p, sum)[0] {
				if want := float64(factor) * float64(x[k]); !s.rounds(got/fine, want/fine) {
					t.Errorf("%s: element %d of %v contributes %v, want about %v", name, k, x, got, want)
				}
			}
		}
		done()
	}
}

// rounding checks that contributions are rounded to the nearest multiple of the fine grid, ties to even, or all of a
// sample's to the same side, and that the two sides are equally frequent.
func rounding(t TB, s Suite) {
	quarters := []float64{-1001, -11, -10, -9, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 22, 4002, 4006, 1 << 22}
	for name, p := range map[string]*compile.Program{
		"product": product(t, len(quarters), 1), "broadcast": inner(t, len(quarters)), "row of a table": gathering(t, 1, 1, len(quarters)),
	} {
		for _, noise := range []float64{0, 1.1} {
			j := plain(p, 1)
			j.Mechanism.NoiseMultiplier = noise
			fine := j.Mechanism.Grid(1).Fine
			var column []float32
			for _, q := range quarters {
				column = append(column, float32(q/4*fine))
			}
			data := &engine.Data{Samples: 1, Columns: engine.Floats(column, []float32{1})[:len(p.Inputs)]}
			if p.Inputs[0].Type == compile.Int32 {
				data.Columns = []engine.Column{{Ints: []int32{0}}, {Floats: column}}
			}
			runs, done := s.start(t, p, data, j)
			sum, _ := s.clippedSum(t, runs, 0, []int32{0})
			for k, got := range split(p, sum)[0] {
				if !s.rounds(got/fine, quarters[k]/4) {
					t.Errorf("%s, noise %v: %v times the fine grid is rounded to %v", name, noise, quarters[k]/4, got/fine)
				}
			}
			done()
		}
	}
	if s.Directed {
		sides(t, s)
	}
}

// sides checks that all contributions of a sample are rounded to one side, and those of about half of all samples down.
func sides(t TB, s Suite) {
	const size, samples = 9, 400
	p := product(t, size, 1)
	data := RandomData(p, samples, 7)
	for i := range samples {
		data.Columns[1].Floats[i] = 1
	}
	j := plain(p, 100) // which clips nothing
	fine := j.Mechanism.Grid(samples).Fine
	runs, done := s.start(t, p, data, j)
	defer done()
	down := 0
	for i := range samples {
		sum, _ := s.clippedSum(t, runs, 0, []int32{int32(i)})
		below, above := 0, 0
		for k, got := range split(p, sum)[0] {
			exact := float64(data.Columns[0].Floats[i*size+k])
			switch {
			case !(math.Abs(got-exact) < fine):
				t.Errorf("element %d of sample %d contributes %v, which isn't beside %v", k, i, got, exact)
			case got < exact:
				below++
			case got > exact:
				above++
			}
		}
		if below > 0 && above > 0 {
			t.Errorf("of sample %d, %d elements are rounded down and %d up", i, below, above)
		}
		down += min(below, 1)
	}
	if down < samples/3 || down > samples*2/3 {
		t.Errorf("%d of %d samples are rounded down", down, samples)
	}
}

// ties checks that a pooling takes the first of equal maxima and doesn't lose a NaN. Each pixel is multiplied by a
// parameter and each result by an input, so that gradients show which pixel was taken.
func ties(t TB, s Suite) {
	equalOperands(t, s)
	const side, out, samples = 5, 4, 40
	g := NewG(1, 9)
	h := g.Do(gorgonia.BroadcastHadamardProd(g.In("x", 1, side, side), g.Param("w", 1, 1, side, side), nil, []byte{0}))
	h = g.Do(gorgonia.MaxPool2D(h, tensor.Shape{2, 2}, []int{0, 0}, []int{1, 1}))
	p := g.program(t, h, g.Do(gorgonia.Sum(g.Do(gorgonia.HadamardProd(h, g.In("y", 1, out, out))))))
	data := RandomData(p, samples, 5)
	r := rand.New(rand.NewPCG(7, 8))
	for _, c := range data.Columns {
		for k := range c.Floats {
			c.Floats[k] = float32(r.IntN(3))
		}
	}
	j := plain(p, 1e6)
	for k := range j.Initial {
		j.Initial[k] = 1
	}
	runs, done := s.start(t, p, data, j)
	defer done()
	for i := range samples {
		x, y := data.Columns[0].Floats[i*side*side:], data.Columns[1].Floats[i*out*out:]
		want := make([]float64, side*side)
		for k := range out * out {
			first := k/out*side + k%out
			for _, at := range []int{first + 1, first + side, first + side + 1} {
				if x[at] > x[first] {
					first = at
				}
			}
			want[first] += float64(x[first] * y[k])
		}
		sum, _ := s.clippedSum(t, runs, 0, []int32{int32(i)})
		if got := split(p, sum)[0]; !slices.Equal(got, want) {
			t.Fatalf("of equals another than the first is taken: the gradient is %v, want %v", got, want)
		}
	}
	test := RandomData(p, 2, 6)
	const hole = 2*side + 3
	test.Columns[0].Floats[hole] = float32(math.NaN())
	for k, v := range predicted(t, runs, test, 0) {
		meets := k < out*out && slices.Contains([]int{hole, hole - 1, hole - side, hole - side - 1}, k/out*side+k%out)
		if (v != v) != meets {
			t.Errorf("output %d of a pooling over a hole is %v", k, v)
		}
	}
}

// equalOperands checks that of equal operands of a maximum, and of a minimum, the first has the gradient.
func equalOperands(t TB, s Suite) {
	const size = 5
	g := NewG(1, 9)
	x := g.In("x", size)
	a := g.Do(gorgonia.BroadcastAdd(x, g.Param("a", 1, size), nil, []byte{0}))
	b := g.Do(gorgonia.BroadcastAdd(x, g.Param("b", 1, size), nil, []byte{0}))
	p := g.program(t, nil, g.Do(gorgonia.Sum(g.Do(gorgonia.Add(g.Do(gorgonia.MaxBetween(a, b)), g.Do(gorgonia.MinBetween(a, b)))))))
	j := plain(p, 64)
	clear(j.Initial)
	runs, done := s.start(t, p, RandomData(p, 1, 5), j)
	defer done()
	sum, _ := s.clippedSum(t, runs, 0, []int32{0})
	for k, want := range []float64{2, 0} {
		if got := split(p, sum)[k]; !slices.Equal(got, slices.Repeat([]float64{want}, size)) {
			t.Errorf("of equal operands number %d has the gradient %v, want %v", k, got, want)
		}
	}
}

// notFinite checks that a sample whose gradient isn't finite contributes nothing and changes no other sample's
// contribution.
func notFinite(t TB, s Suite) {
	silentRows(t, s)
	p := MLP(t, 6, 5, 3)
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), math.MaxFloat32} {
		data := RandomData(p, 9, 5)
		for k := range 6 {
			data.Columns[0].Floats[4*6+k] = bad
		}
		// Labels of that size make the loss, and so the gradient, overflow for a finite input too.
		for k := range 3 {
			data.Columns[1].Floats[4*3+k] = bad
		}
		j := job(p, 9)
		runs, done := s.start(t, p, data, j)
		with, squared := s.clippedSum(t, runs, 0, allOf(9))
		if !math.IsNaN(squared[4]) && !math.IsInf(squared[4], 0) {
			t.Errorf("%v: the squared norm is %v", bad, squared[4])
		}
		without, _ := s.clippedSum(t, runs, 0, []int32{0, 1, 2, 3, 5, 6, 7, 8})
		if !slices.Equal(with, without) {
			t.Errorf("%v: the sum with the bad sample isn't the one without", bad)
		}
		advance(t, runs, 3)
		for _, v := range runs.State(0).Params {
			if v-v != 0 {
				t.Fatalf("%v: training on a sample without a finite gradient broke the parameters", bad)
			}
		}
		done()
	}
}

// silentRows checks the same of rows that are normalised, and of their gradients: a sample contributes nothing if one
// of them isn't finite, or is so large that its sum isn't, whatever else its gradient holds.
func silentRows(t TB, s Suite) {
	const samples, bad, k = 9, 4, 7
	g := NewG(1, 9)
	x, y, row := g.In("x", k), g.In("y", k), []byte{0}
	h := layerNorm(g, g.Do(gorgonia.BroadcastHadamardProd(x, g.Param("w", 1, k), nil, row)), false)
	h = g.Do(gorgonia.BroadcastHadamardProd(h, g.Param("v", 1, k), nil, row))
	p := g.program(t, nil, g.Do(gorgonia.Sum(g.Do(gorgonia.HadamardProd(h, y)))))
	for column := range p.Inputs {
		for _, v := range [][]float64{{math.NaN()}, {math.Inf(1)}, {math.Inf(-1)}, {math.Inf(1), math.Inf(-1)}, slices.Repeat([]float64{3e38}, k)} {
			data := RandomData(p, samples, 5)
			for i, v := range v {
				data.Columns[column].Floats[bad*k+i] = float32(v)
			}
			j := plain(p, 1)
			for i := range j.Initial {
				j.Initial[i] = 1
			}
			runs, done := s.start(t, p, data, j)
			with, squared := s.clippedSum(t, runs, 0, allOf(samples))
			if n := squared[bad]; n-n == 0 {
				t.Errorf("%v in column %d of normalised rows: the squared norm is %v", v, column, n)
			}
			others := slices.Delete(allOf(samples), bad, bad+1)
			if without, _ := s.clippedSum(t, runs, 0, others); !slices.Equal(with, without) {
				t.Errorf("%v in column %d of normalised rows: the sum with the sample isn't the one without", v, column)
			}
			done()
		}
	}
}
