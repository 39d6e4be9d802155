package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/train"
)

func main() {
	log.SetFlags(0)
	workers := flag.Int("workers", 1, "cores to use")
	flag.Parse()
	if flag.NArg() != 3 {
		log.Fatal("usage: worker [-workers N] MODEL BATCH FOLDER")
	}
	name, batch, folder := flag.Arg(0), must(strconv.Atoi(flag.Arg(1))), flag.Arg(2)
	model, outputs := must2(network(name))
	labels := read[int32](filepath.Join(folder, "y"))
	loaded := must(train.Load(cpu.New(cpu.Options{Workers: *workers}), model, data(name, folder, labels, outputs)))
	settings := train.Settings{
		Privacy: train.Privacy{
			SamplingRate: float64(batch) / float64(len(labels)), NoiseMultiplier: 1, Steps: math.MaxInt32,
			ClippingNorm: must(strconv.ParseFloat(string(must(os.ReadFile(filepath.Join(folder, "clip")))), 64)),
			NominalSize:  float64(len(labels)),
		},
		Optimizer: train.SGD(0.01), Key: train.InsecureKey(1),
	}
	for _, p := range model.Parameters {
		settings.Initial = append(settings.Initial, read[float32](filepath.Join(folder, "initial", p.Name())))
	}
	writeSum(loaded, model, settings, batch, filepath.Join(folder, "sums", "dptrain"))

	group := must(loaded.Start(settings))
	done := trainFor(group, 100*time.Millisecond)
	fmt.Println("ready")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		seconds := must(strconv.ParseFloat(strings.TrimPrefix(in.Text(), "run "), 64))
		start := time.Now()
		all := trainFor(group, time.Duration(seconds*float64(time.Second)))
		fmt.Println((all-done)*batch, time.Since(start).Seconds())
		done = all
	}
}

// trainFor trains for a time and returns the number of steps since the start. The run has more steps than it will ever
// take: when the time is up, Train ends after a whole step, so one call takes any number of them.
func trainFor(group *train.Group, d time.Duration) (done int) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	if err := group.Train(ctx, func(p []train.Progress) { done = p[0].Step }); !errors.Is(err, context.DeadlineExceeded) {
		log.Fatal("training ended: ", err)
	}
	return done
}

// writeSum takes one step without noise on exactly the first samples. Its learning rate is so large that the initial
// values are lost in the rounding of the result, not the other way round. Rounding must not make a contribution too
// long, so dptrain clips to slightly less than the norm: internal/engine derives the margin, which is added here.
func writeSum(loaded *train.Loaded, model train.Model, s train.Settings, samples int, folder string) {
	const scale = 1 << 14
	s.Privacy.SamplingRate, s.Privacy.NoiseMultiplier, s.Privacy.Steps, s.Privacy.NominalSize = 1, 0, 1, float64(samples)
	s.Optimizer = train.SGD(float64(samples) * scale)
	values := 0
	for _, v := range s.Initial {
		values += len(v)
	}
	c := &s.Privacy.ClippingNorm
	*c = *c*(1+0x1p-16) + math.Sqrt(float64(values))*math.Exp2(math.Floor(math.Log2(*c))-21)
	for i := range samples {
		s.Members = append(s.Members, int32(i))
	}
	group := must(loaded.Start(s))
	defer group.Close()
	check(group.Train(context.Background(), nil))
	check(os.MkdirAll(folder, 0o777))
	for i, p := range must(group.Result(0)).Parameters {
		for k, v := range p.Values {
			p.Values[k] = (s.Initial[i][k] - v) / scale
		}
		check(os.WriteFile(filepath.Join(folder, model.Parameters[i].Name()), must(binary.Append(nil, binary.LittleEndian, p.Values)), 0o666))
	}
}

// data reads the samples as the columns that the model takes.
func data(name, folder string, labels []int32, outputs int) *train.Data {
	oneHot := make([]float32, len(labels)*outputs)
	for i, l := range labels {
		oneHot[i*outputs+int(l)] = 1
	}
	file, y := filepath.Join(folder, "x"), train.Column{Floats: oneHot}
	switch name {
	case "imdb": // the mean over all tokens, as everybody's
		ids := read[int32](file)
		return must(train.NewTypedData(len(labels), train.Column{Ints: ids}, train.Column{Floats: slices.Repeat([]float32{1. / reviewTokens}, len(ids))}, y))
	case "attention":
		return must(train.NewTypedData(len(labels), train.Column{Ints: read[int32](file)}, y))
	}
	return must(train.NewTypedData(len(labels), train.Column{Floats: read[float32](file)}, y))
}

func read[T float32 | int32](file string) []T {
	raw := must(os.ReadFile(file))
	values := make([]T, len(raw)/4)
	must(binary.Decode(raw, binary.LittleEndian, values))
	return values
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func must2[T, U any](v T, w U, err error) (T, U) {
	check(err)
	return v, w
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
