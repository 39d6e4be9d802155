package cuda

import (
	"context"
	"embed"
	"io/fs"
	"testing"

	"github.com/dptrain/dptrain/cuda/internal/emulator"
)

//go:embed kernels/*.cu kernels/*.cuh
var kernelFiles embed.FS

// sources holds the kernels and the headers that they include, for machines that have this test's binary and nothing
// else.
var sources = func() fs.FS {
	inside, err := fs.Sub(kernelFiles, "kernels")
	if err != nil {
		panic(err)
	}
	return inside
}()

// source returns the text of one of the kernels' files.
func source(t *testing.T, name string) string {
	t.Helper()
	text, err := fs.ReadFile(sources, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// build compiles kernels that include the real ones' headers, but for those that they bring along.
func build(ctx context.Context, kernels fs.FS, flags ...string) (*emulator.Library, error) {
	return emulator.Build(ctx, sources, kernels, flags...)
}
