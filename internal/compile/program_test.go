package compile_test

import (
	"os"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/models"
)

// model compiles one of the paper's models, built for the given batch size.
func model(t testing.TB, name string, batch int) *compile.Program {
	t.Helper()
	n, err := models.New(name, []int{1, 28, 28}, 10, models.Options{Batch: batch})
	if err != nil {
		t.Fatal(err)
	}
	p, err := compile.Compile(compile.Source{Inputs: n.Inputs, Params: n.Parameters, Output: n.Output, Cost: n.Cost})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The listings of the models' programs: a change of the compiler shows here.
func TestGoldenPrograms(t *testing.T) {
	for _, name := range []string{"cnn", "mlp"} {
		got, file := model(t, name, 1).String(), "testdata/"+name+".txt"
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s isn't the program of %s any more; look at what -update changes", file, name)
		}
	}
}

// A graph compiles to the same program each time, for any order of maps and any batch that it was built with, unless it
// has constants of the batch's size. So a program's hash can identify the graph.
func TestProgramsAreDeterministic(t *testing.T) {
	for _, name := range []string{"cnn", "mlp"} {
		first := model(t, name, 1).String()
		for i := range 50 {
			if again := model(t, name, 1+i%5).String(); again != first {
				t.Fatalf("%s: two compilations differ:\n%s\n%s", name, first, again)
			}
		}
	}
	for name, z := range enginetest.Zoo() {
		var first string
		for i := range 6 {
			src, err := z.Build(2 + i%3)
			if err != nil {
				t.Fatal(err)
			}
			p, err := compile.Compile(src)
			if err != nil {
				t.Fatal(err)
			}
			if first == "" || strings.HasPrefix(name, "constant") { // constants of the batch's size are listed
				first = p.String()
			} else if again := p.String(); again != first {
				t.Errorf("%s: two compilations differ:\n%s\n%s", name, first, again)
			}
		}
	}
}
