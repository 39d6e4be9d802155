package enginetest

import (
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// Texts returns samples for package models' model of texts, whose inputs are ids, weights and one-hot labels. A text
// has at least one word and at most as many as fit, and then padding with id 0 and weight 0. Words repeat.
func Texts(p *compile.Program, samples int, seed uint64) *engine.Data {
	d := RandomData(p, samples, seed)
	length, classes := p.Inputs[0].Size, p.Inputs[2].Size
	for i := range samples {
		words := 1 + (i*7+int(seed))%length
		ids, weights := d.Columns[0].Ints[i*length:][:length], d.Columns[1].Floats[i*length:][:length]
		for k := range length {
			weights[k] = 1 / float32(words)
			if k >= words {
				ids[k], weights[k] = 0, 0
			}
		}
		y := d.Columns[2].Floats[i*classes:][:classes]
		clear(y)
		y[i%classes] = 1
	}
	return d
}
