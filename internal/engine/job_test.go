package engine

import (
	"errors"
	"reflect"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/random"
)

func program(sizes ...int) *compile.Program {
	p := &compile.Program{}
	for _, n := range sizes {
		p.Params = append(p.Params, compile.Tensor{Size: n})
	}
	return p
}

func TestLayout(t *testing.T) {
	l := LayoutOf(program(3, 4, 1, 1, 0, 6))
	if want := []int{0, 4, 8, 10, 12, 12}; !reflect.DeepEqual(l.Offsets, want) || l.Size != 18 {
		t.Errorf("offsets %v of %d, want %v of 18", l.Offsets, l.Size, want)
	}
	params := [][]float32{{1, 2, 3}, {4, 5, 6, 7}, {8}, {9}, {}, {10, 11, 12, 13, 14, 15}}
	joined := l.Join(params)
	if want := []float32{1, 2, 3, 0, 4, 5, 6, 7, 8, 0, 9, 0, 10, 11, 12, 13, 14, 15}; !reflect.DeepEqual(joined, want) {
		t.Errorf("joined to %v, want %v", joined, want)
	}
	split := l.Split(joined)
	if !reflect.DeepEqual(split, params) {
		t.Errorf("split to %v, want %v", split, params)
	}
	split[0] = append(split[0], 99)
	if joined[3] != 0 {
		t.Error("a part reaches into the next")
	}
	if l.Join(nil) != nil || l.Split(nil) != nil {
		t.Error("nothing became something")
	}
}

// A step's minibatch is what its stream draws of the list, and a normal depends on its coordinate, for any requested
// part.
func TestDraws(t *testing.T) {
	j := Job{Key: random.InsecureKey(3), Trial: 5, Mechanism: Mechanism{SamplingProbability: 0.25}}
	var list []int32
	for i := range int32(1000) {
		list = append(list, 3*i)
	}
	want := random.SamplerOf(0.25).Sample(j.Key.Stream(random.ID{Purpose: random.Minibatch, Trial: 5, Step: 9}), list, nil)
	if got := j.Minibatch(9, list, []int32{-1}); !reflect.DeepEqual(got, append([]int32{-1}, want...)) {
		t.Errorf("drew %v, want %v", got, want)
	}
	whole, part := make([]float64, 101), make([]float64, 31)
	j.Normals(9, 0, whole)
	j.Normals(9, 70, part)
	if !reflect.DeepEqual(part, whole[70:]) {
		t.Errorf("normals from 70 on are %v, want %v", part, whole[70:])
	}
	again := make([]float64, 101)
	j.Key.Stream(random.ID{Purpose: random.Noise, Trial: 5, Step: 9}).Normals(again)
	if !reflect.DeepEqual(again, whole) {
		t.Error("the normals aren't those of the step's noise stream")
	}
	dropout := *j.Key.Stream(random.ID{Purpose: random.GraphDraws, Trial: 5, Step: 9})
	if j.GraphDraws(9) != dropout {
		t.Error("a step's dropout isn't drawn from its stream")
	}
	// Samples share no draws: a stream has 2³⁶.
	p := &compile.Program{Draws: 1 << 32}
	for samples, fits := range map[int]bool{16: true, 17: false} {
		j := Job{Mechanism: Mechanism{ClippingNorm: 1, ExpectedBatchSize: 1}, Optimizer: Optimizer{Method: SGD}}
		if err := j.Check(p, &Data{Samples: samples}); (err == nil) != fits {
			t.Errorf("%d samples with 2³² draws each: %v", samples, err)
		}
	}
}

func TestCheckState(t *testing.T) {
	l := LayoutOf(program(3))
	sgd, adam := Job{Optimizer: Optimizer{Method: SGD}}, Job{Optimizer: Optimizer{Method: Adam}}
	three, four := make([]float32, 3), make([]float32, 4)
	for _, c := range []struct {
		j     Job
		s     State
		field string
	}{
		{sgd, State{Params: four}, ""},
		{adam, State{Step: 7, Params: four, First: four, Second: four}, ""},
		{sgd, State{Params: three}, "Params"},
		{sgd, State{Params: four, First: four, Second: four}, "First"},
		{adam, State{Params: four}, "First"},
		{adam, State{Params: four, First: four, Second: three}, "Second"},
		{sgd, State{Step: -1, Params: four}, "Step"},
		{sgd, State{Step: 1 << 31, Params: four}, "Step"},
	} {
		var fault *FieldError
		if err := c.j.CheckState(c.s, l); (err == nil) != (c.field == "") || err != nil && (!errors.As(err, &fault) || fault.Field != c.field) {
			t.Errorf("%s, %+v: %v, want a fault in %q", c.j.Optimizer.Method, c.s, err, c.field)
		}
	}
}

type rated struct{ Loaded }

func (rated) Schedules() {}

// Schedules sees through FirstOf whether an engine takes rates.
func TestSchedules(t *testing.T) {
	for _, c := range []struct {
		l    Loaded
		want bool
	}{{rated{}, true}, {chosen{Loaded: rated{}}, true}, {chosen{}, false}, {nil, false}} {
		if got := Schedules(c.l); got != c.want {
			t.Errorf("%#v: %v", c.l, got)
		}
	}
}
