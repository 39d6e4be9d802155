package kerneltest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/cuda/internal/emulator"
)

// Layouts checks that structs in a file of the kernels have the same fields as Go's, at the same offsets and with the
// same sizes. Without a C++ compiler it skips the test.
func Layouts(t *testing.T, file string, structs map[string]any) {
	t.Helper()
	var entries, names []string
	var want []int32
	add := func(name, entry string, number uintptr) {
		entries, names, want = append(entries, entry), append(names, name), append(want, int32(number))
	}
	for name, v := range structs {
		s := reflect.TypeOf(v)
		add(name, fmt.Sprintf("sizeof(%s)", name), s.Size())
		for i := range s.NumField() {
			f := s.Field(i)
			field := name + "." + snake(f.Name)
			add("the offset of "+field, fmt.Sprintf("offsetof(%s, %s)", name, snake(f.Name)), f.Offset)
			add(field, fmt.Sprintf("sizeof(%s::%s)", name, snake(f.Name)), f.Type.Size())
		}
	}
	probe := fmt.Sprintf("#include %q\n#include <stddef.h>\n\nKERNEL(layouts)(global<int32_t> out) {\n", file)
	for i, e := range entries {
		probe += fmt.Sprintf("\tout[%d] = int32_t(%s);\n", i, e)
	}
	probe += "}\nEXPORT(layouts)\n"
	l, err := emulator.Build(context.Background(), os.DirFS(kernels), fstest.MapFS{"probe.cu": &fstest.MapFile{Data: []byte(probe)}}, "-O0")
	if errors.Is(err, emulator.ErrNoCompiler) {
		t.Skip("no C++ compiler")
	}
	if err != nil {
		t.Fatal(err)
	}
	d, err := l.Device(1)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	got := make([]int32, len(want))
	out, err := driver.New(d, got)
	if err := errors.Join(err, d.Launch("layouts", 1, 1, out), driver.Download(d, got, out, 0)); err != nil {
		t.Fatal(err)
	}
	for i, n := range got {
		if n != want[i] {
			t.Errorf("%s: %d to kernels, %d here", names[i], n, want[i])
		}
	}
}

// snake returns the C++ name of a Go name.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteString(strings.ToLower(string(r)))
	}
	return b.String()
}
