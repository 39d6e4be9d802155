package main

import (
	"context"
	"io"

	"github.com/dptrain/dptrain/cmd/internal/engines"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/cmd/internal/ui"
)

// global is the terminal of a command line, and what else commands take from the machine.
type global struct {
	term.Terminal
	stop func(context.Context) context.Context // watches for signals; nil doesn't
	gpus engines.GPUs
}

func newGlobal(gpus engines.GPUs, stdout *term.Output, stderr io.Writer, screen ui.Screen) *global {
	return &global{Terminal: term.Terminal{Out: stdout, Err: stderr, Screen: screen}, gpus: gpus}
}
