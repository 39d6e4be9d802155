package engines

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/build"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/train"
)

// Version describes the running program.
type Version struct {
	build.Info
	Go     string `json:"go"`
	System string `json:"system"`
	Engine string `json:"engine"` // the CPU's; asking for GPUs takes too long here
}

// String returns the program in words.
func (v Version) String() string {
	return fmt.Sprintf("%s, %s, %s, engine %s, or cuda on GPUs", v.Info, v.Go, v.System, v.Engine)
}

// Current returns the running program.
func Current() Version {
	return Version{
		Info:   build.Current(),
		Go:     runtime.Version(),
		System: runtime.GOOS + "/" + runtime.GOARCH,
		Engine: cpu.New(cpu.Options{}).Name(),
	}
}

// Cores returns the number of cores that settings allow.
func Cores(p settings.Performance) int {
	if p.Workers > 0 {
		return p.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// Machine describes what trains.
func Machine(p settings.Performance, gpu train.Engine) string {
	on := fmt.Sprintf("%s, %d %s", processor(), Cores(p), term.Plural(Cores(p), "core", "cores"))
	if gpu != nil {
		return gpu.Name() + "; " + on
	}
	return "CPU; " + on
}

// processor returns the name of the processor, or its architecture.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		for line := range strings.Lines(string(text)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	}
	return runtime.GOARCH
}
