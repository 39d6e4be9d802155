package main

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/build"
	"github.com/dptrain/dptrain/cpu"
)

type versionResult struct {
	build.Info
	Go     string `json:"go"`
	System string `json:"system"`
	Engine string `json:"engine"` // the CPU's; asking for GPUs takes too long here
}

func newVersionCommand(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, its commit, and the engines that it was built with",
		Args:  noArgs,
		RunE:  func(*cobra.Command, []string) error { return runVersion(g) },
	}
}

func runVersion(g *global) error {
	v := version()
	return g.print(v, func(w io.Writer) { fmt.Fprintln(w, v) })
}

func (v versionResult) String() string {
	return fmt.Sprintf("%s, %s, %s, engine %s, or cuda on GPUs", v.Info, v.Go, v.System, v.Engine)
}

func version() versionResult {
	return versionResult{
		Info:   build.Current(),
		Go:     runtime.Version(),
		System: runtime.GOOS + "/" + runtime.GOARCH,
		Engine: cpu.New(cpu.Options{}).Name(),
	}
}
