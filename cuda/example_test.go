package cuda_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/cuda"
	"github.com/dptrain/dptrain/train"
)

// Training takes the GPUs where there are any, and the CPU's engine on other machines.
func ExampleNew() {
	engines := []train.Engine{cpu.New(cpu.Options{})}
	gpu, err := cuda.New(cuda.Options{Warn: func(text string) { log.Print(text) }})
	switch {
	case errors.Is(err, cuda.ErrNoDevice):
		fmt.Println("no GPU")
	case err != nil:
		log.Fatal(err)
	default:
		defer gpu.Close() // after all that was loaded on it is closed
		engines = append([]train.Engine{gpu}, engines...)
	}
	e := train.FirstOf(engines...)

	// Hand e to train.Load or train.New. What they and their runs return may be
	//
	//	cuda.ErrOutOfMemory   of Load and Start: the program, its data or one run alone don't fit; fewer blocks and
	//	                      fewer runs at a time have been tried
	//	train.ErrLost         of Train and Predict: the GPU failed. The process is done with it; another process, or
	//	                      the CPU, goes on from the last state that was asked for, if its arithmetic is the same
	_ = e
}
