package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cpu"
)

type versionResult struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
	System  string `json:"system"`
	Engine  string `json:"engine"` // the CPU's; asking for GPUs takes too long here
}

func newVersionCommand(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, and the engines that it was built with",
		Args:  noArgs,
		RunE:  func(*cobra.Command, []string) error { return runVersion(g) },
	}
}

func runVersion(g *global) error {
	v := version()
	return g.print(v, func(w io.Writer) { fmt.Fprintln(w, v) })
}

func (v versionResult) String() string {
	return fmt.Sprintf("dptrain %s, %s, %s, engine %s, or cuda on GPUs", v.Version, v.Go, v.System, v.Engine)
}

func version() versionResult {
	v := versionResult{
		Version: "(devel)",
		Go:      runtime.Version(),
		System:  runtime.GOOS + "/" + runtime.GOARCH,
		Engine:  cpu.New(cpu.Options{}).Name(),
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Version = info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v.Commit = s.Value
		}
	}
	return v
}
