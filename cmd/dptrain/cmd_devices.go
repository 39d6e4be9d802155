package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/cuda"
)

// needs states the requirements of training on a GPU.
const needs = `A GPU is used if it is NVIDIA's, of compute capability 7.0 or newer (Volta, 2017),
and its driver is there, for CUDA 11 or newer. No CUDA toolkit is needed, and no
other build of dptrain. A container has to be run with its GPUs, as by
docker run --gpus all.`

// devicesResult is what dptrain devices prints as JSON.
type devicesResult struct {
	Devices []deviceResult `json:"devices"`
	Problem string         `json:"problem,omitempty"` // why none is there
}

type deviceResult struct {
	Number            int    `json:"number"`
	Name              string `json:"name"`
	Memory            int64  `json:"memory_bytes"`
	ComputeCapability string `json:"compute_capability"`
	Multiprocessors   int    `json:"multiprocessors"`
	CUDA              string `json:"cuda"` // the newest version that the driver knows
	Usable            bool   `json:"usable"`
	Problem           string `json:"problem,omitempty"` // why it isn't
}

func newDevicesCommand(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "devices",
		Short: "List the GPUs, and which of them can be trained on",
		Long: `List the GPUs of this machine, and which of them can be trained on.

"dptrain tune" and "dptrain train" use all usable GPUs, or those of --devices;
where there is none, or with --engine cpu, they run on the CPU.

` + needs + `

Numbers are the driver's, which puts the fastest first. With the environment
variable CUDA_DEVICE_ORDER=PCI_BUS_ID they are those of nvidia-smi.
CUDA_VISIBLE_DEVICES hides GPUs; those that are left are numbered from 0.

Finding no GPU is a result and no failure, so the exit code is 0. A training that
insists on GPUs, by --engine cuda or by --devices, exits with 7 instead.`,
		Example: `  dptrain devices
  dptrain devices --json
  dptrain tune --dataset mnist --devices 0,1`,
		Args: term.NoArgs,
		RunE: func(*cobra.Command, []string) error { return runDevices(g) },
	}
}

func runDevices(g *global) error {
	all, err := g.gpus.List()
	r := devicesResult{Devices: []deviceResult{}}
	switch {
	case errors.Is(err, cuda.ErrNoDevice):
		r.Problem = err.Error()
	case err != nil:
		return err
	}
	for n, info := range all {
		r.Devices = append(r.Devices, newDeviceResult(n, info))
	}
	return g.Print(r, r.print)
}

func newDeviceResult(number int, i cuda.Info) deviceResult {
	d := deviceResult{
		Number:            number,
		Name:              i.Name,
		Memory:            i.Memory,
		ComputeCapability: fmt.Sprintf("%d.%d", i.Major, i.Minor),
		Multiprocessors:   i.Multiprocessors,
		CUDA:              i.Driver,
		Usable:            true,
	}
	if err := cuda.Usable(i); err != nil {
		d.Usable, d.Problem = false, err.Error()
	}
	return d
}

func (r devicesResult) print(w io.Writer) {
	if len(r.Devices) > 0 {
		lines := [][]string{{"NUMBER", "NAME", "MEMORY", "CAPABILITY", "MULTIPROCESSORS", "CUDA", "USABLE"}}
		for _, d := range r.Devices {
			usable := "yes"
			if !d.Usable {
				usable = "no: " + d.Problem
			}
			lines = append(lines, []string{strconv.Itoa(d.Number), d.Name, fmt.Sprintf("%.1f GiB", float64(d.Memory)/(1<<30)), d.ComputeCapability, strconv.Itoa(d.Multiprocessors), d.CUDA, usable})
		}
		term.Columns(w, lines...)
	}
	if slices.ContainsFunc(r.Devices, func(d deviceResult) bool { return d.Usable }) {
		return
	}
	if r.Problem != "" {
		term.Sentence(w, r.Problem)
	}
	if hidden, ok := os.LookupEnv("CUDA_VISIBLE_DEVICES"); ok {
		term.Sentence(w, fmt.Sprintf("The environment variable CUDA_VISIBLE_DEVICES is %q, which hides all other GPUs.", hidden))
	}
	fmt.Fprintf(w, "Training runs on the CPU.\n\n%s\n", needs)
}
