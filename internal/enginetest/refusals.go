package enginetest

import (
	"errors"
	"math"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// refusals checks that invalid jobs and data are refused before a run starts, by an error that names the field.
func refusals(t TB, s Suite) {
	p := MLP(t, 6, 3)
	for _, c := range []struct {
		field string
		spoil func(*engine.Job)
	}{
		{"Mechanism.SamplingProbability", func(j *engine.Job) { j.Mechanism.SamplingProbability = 1.5 }},
		{"Mechanism.SamplingProbability", func(j *engine.Job) { j.Mechanism.SamplingProbability = math.NaN() }},
		{"Mechanism.SamplingProbability", func(j *engine.Job) { j.Mechanism.SamplingProbability = -1e-300 }},
		{"Mechanism.NoiseMultiplier", func(j *engine.Job) { j.Mechanism.NoiseMultiplier = -1 }},
		{"Mechanism.NoiseMultiplier", func(j *engine.Job) { j.Mechanism.NoiseMultiplier = math.Inf(1) }},
		{"Mechanism.ClippingNorm", func(j *engine.Job) { j.Mechanism.ClippingNorm = 0 }},
		{"Mechanism.ClippingNorm", func(j *engine.Job) { j.Mechanism.ClippingNorm = math.NaN() }},
		{"Mechanism.ExpectedBatchSize", func(j *engine.Job) { j.Mechanism.ExpectedBatchSize = 0 }},
		{"Mechanism", func(j *engine.Job) { j.Mechanism.NoiseMultiplier = 1e30 }},
		{"Mechanism.ClippingNorm", func(j *engine.Job) { j.Mechanism.ClippingNorm = 9e-13 }},
		{"Mechanism.ClippingNorm", func(j *engine.Job) { j.Mechanism.ClippingNorm = 1.1e12 }},
		{"Optimizer.LearningRate", func(j *engine.Job) { j.Optimizer.LearningRate = math.Inf(1) }},
		{"Optimizer.Method", func(j *engine.Job) { j.Optimizer.Method = "adagrad" }},
		{"Optimizer.Beta1", func(j *engine.Job) { *j = adam(*j); j.Optimizer.Beta1 = 1 }},
		{"Optimizer.Beta2", func(j *engine.Job) { *j = adam(*j); j.Optimizer.Beta2 = -0.1 }},
		{"Optimizer.Epsilon", func(j *engine.Job) { *j = adam(*j); j.Optimizer.Epsilon = 0 }},
		{"Members[1]", func(j *engine.Job) { j.Members = []int32{3, 10} }},
		{"Members[0]", func(j *engine.Job) { j.Members = []int32{-1} }},
		{"Members[2]", func(j *engine.Job) { j.Members = []int32{3, 4, 4} }},
		{"Initial", func(j *engine.Job) { j.Initial = j.Initial[1:] }},
		{"Initial", func(j *engine.Job) { j.Initial = nil }},
	} {
		loaded, err := s.Engine().Load(p, RandomData(p, 10, 5))
		if err != nil {
			t.Fatal(err)
		}
		j := job(p, 10)
		c.spoil(&j)
		var fault *engine.FieldError
		if _, err := loaded.Start(job(p, 10), j); !errors.As(err, &fault) || fault.Field != c.field {
			t.Errorf("a job with a bad %s: %v", c.field, err)
		}
		if err := loaded.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	for _, c := range []struct {
		field string
		p     *compile.Program
		spoil func(*engine.Data) *engine.Data
	}{
		{"Program", nil, func(d *engine.Data) *engine.Data { return d }},
		{"Data", p, func(*engine.Data) *engine.Data { return nil }},
		{"Data.Samples", p, func(d *engine.Data) *engine.Data { d.Samples = -1; return d }},
		{"Data.Columns", p, func(d *engine.Data) *engine.Data { d.Columns = d.Columns[:1]; return d }},
		{"Data.Columns[0]", p, func(d *engine.Data) *engine.Data { d.Columns[0].Floats = d.Columns[0].Floats[:7]; return d }},
		{"Data.Columns[1]", p, func(d *engine.Data) *engine.Data { d.Columns[1] = engine.Column{}; return d }},
		{"Data.Columns[1]", p, func(d *engine.Data) *engine.Data {
			d.Columns[1] = engine.Column{Ints: make([]int32, 30)}
			return d
		}},
	} {
		var fault *engine.FieldError
		if _, err := s.Engine().Load(c.p, c.spoil(RandomData(p, 10, 5))); !errors.As(err, &fault) || fault.Field != c.field {
			t.Errorf("bad %s: %v", c.field, err)
		}
	}
}

// unknown checks that an engine refuses an unknown operation.
func unknown(t TB, s Suite) {
	p := Zoo()["an identity"].Program(t, 1)
	p.Forward[0].Op = 200
	if _, err := s.Engine().Load(p, RandomData(p, 3, 1)); err == nil {
		t.Errorf("a program with an operation of number 200 was loaded")
	}
}
