package dptrain_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/dptrain/dptrain"

// table lists the packages of ours that each package imports, by name.
type table map[string][]string

// anything stands for all of our packages.
const anything = "..."

var rooms = table{
	".": nil,

	// Packages for users.
	"accountant":     {"accountant/internal/pld", "accountant/internal/repetitions", "internal/float", "internal/renyi"},
	"train":          {"accountant", "internal/compile", "internal/engine", "internal/given", "internal/random"},
	"tuner":          {"accountant", "train", "internal/random"},
	"models":         {"train"},
	"datasets":       {"internal/nearest", "internal/wordpiece"},
	"datasets/table": {"datasets/table/internal/parquetguard", "internal/memory", "internal/sketch"},
	"configs":        {"internal/nearest"},
	"cpu":            {"cpu/internal/kernel", "internal/arena", "internal/compile", "internal/engine", "internal/random"},
	"cuda":           {"cuda/internal/cu", "cuda/internal/driver", "cuda/internal/kernel", "cuda/internal/libcuda", "cuda/internal/walk", "internal/compile", "internal/engine"},

	// Examples import what their copies would.
	"examples":            nil,
	"examples/attention":  {"accountant", "cpu", "train"},
	"examples/gru":        {"accountant", "cpu", "train"},
	"examples/regression": {"accountant", "cpu", "train"},
	"examples/tuning":     {"accountant", "cpu", "train", "tuner"},

	// Inside the accountant. Package accounteval needs the Rényi theorems too.
	"accountant/internal/pld":         {"accountant/internal/repetitions", "internal/float"},
	"accountant/internal/repetitions": {"internal/float"},
	"internal/renyi":                  {"internal/float"},
	"internal/float":                  nil,

	// From a graph to an engine.
	"internal/graph":      nil,
	"internal/compile":    {"internal/graph"},
	"internal/engine":     {"internal/compile", "internal/random"},
	"internal/arena":      {"internal/compile"},
	"internal/given":      {"internal/engine"},
	"internal/enginetest": {"internal/compile", "internal/engine", "internal/graph", "internal/random", "models", "train"},

	// Inside tables.
	"datasets/table/internal/parquetguard": nil,

	// Inside the engines.
	"cpu/internal/kernel":             nil,
	"cuda/internal/cu":                {"cuda/internal/driver"},
	"cuda/internal/dl":                nil,
	"cuda/internal/driver":            nil,
	"cuda/internal/driver/drivertest": {"cuda/internal/driver"},
	"cuda/internal/emulator":          {"cuda/internal/dl", "cuda/internal/driver"},
	"cuda/internal/kernel":            {"cuda/internal/driver"},
	"cuda/internal/kerneltest":        {"cuda/internal/driver", "cuda/internal/emulator"},
	"cuda/internal/libcuda":           {"cuda/internal/dl", "cuda/internal/driver"},
	"cuda/internal/loops":             nil,
	"cuda/internal/ptx":               nil,
	"cuda/internal/walk":              {"cuda/internal/driver", "cuda/internal/kernel", "internal/arena", "internal/compile", "internal/engine"},

	// Packages of the command.
	"internal/accounteval":        {"accountant", "internal/renyi"},
	"internal/build":              nil,
	"internal/cluster":            nil,
	"internal/fleet":              {"configs", "internal/cluster", "internal/experiment", "internal/remote", "train", "tuner"},
	"internal/campaign":           {"configs", "datasets", "internal/build", "internal/durable", "internal/experiment", "internal/ledger", "internal/remote", "internal/report", "internal/runs", "internal/safetensors", "train", "tuner"},
	"internal/experiment":         {"accountant", "configs", "datasets", "datasets/table", "internal/experiment/planner", "internal/features", "internal/given", "internal/ledger", "internal/memory", "internal/random", "internal/report", "internal/runs", "internal/safetensors", "internal/scores", "models", "train", "tuner"},
	"internal/experiment/planner": {"accountant", "tuner"},
	"internal/features":           {"internal/engine", "internal/safetensors", "models", "train"},
	"internal/figure":             {"accountant"},
	"internal/memory":             nil,
	"internal/onnx":               {"internal/build", "internal/report", "models", "train"},
	"internal/onnx/onnxtest":      nil,
	"internal/nearest":            nil,
	"internal/sketch":             nil,
	"internal/ledger":             {"accountant", "internal/durable", "internal/sketch"},
	"internal/paper":              {"configs", "datasets", "internal/campaign", "internal/figure", "internal/page/sheet", "models"},
	"internal/page":               {"accountant", "internal/page/sheet", "internal/report", "train", "tuner"},
	"internal/page/sheet":         nil,
	"internal/random":             nil,
	"internal/remote":             {"configs", "internal/experiment", "internal/report", "train", "tuner"},
	"internal/report":             {"internal/build", "internal/figure", "internal/memory", "internal/safetensors", "models", "train", "tuner"},
	"internal/durable":            nil,
	"internal/runs":               {"internal/durable"},
	"internal/safetensors":        nil,
	"internal/scores":             {"train"},
	"internal/ui":                 nil,
	"internal/wordpiece":          nil,

	"cmd/dptrain": {anything},

	// Archives. It runs the command instead of importing what the command imports.
	"release": nil,
}

// roomy lists the rooms that may allow more than their packages import: one that grows, and the one where everything is
// wired together.
var roomy = []string{"cuda", "cmd/dptrain"}

// sourcePackage holds the imports of one directory's files, whatever their build tags.
type sourcePackage struct {
	imports    map[string]string // of our own packages, to a file that has it
	documented bool              // by a package comment in doc.go
}

// sources reads the import clauses of all our files that aren't tests. It doesn't ask the go command,
// which would leave out the files of other platforms and tags.
func sources(t *testing.T) map[string]*sourcePackage {
	t.Helper()
	packages := map[string]*sourcePackage{}
	err := filepath.WalkDir(".", func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := e.Name()
		if e.IsDir() {
			if file != "." && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		dir := path.Dir(filepath.ToSlash(file))
		if packages[dir] == nil {
			packages[dir] = &sourcePackage{imports: map[string]string{}}
		}
		packages[dir].documented = packages[dir].documented || name == "doc.go" && parsed.Doc != nil
		return addImports(packages[dir].imports, parsed, file)
	})
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

func addImports(imports map[string]string, parsed *ast.File, file string) error {
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if imported == module {
			imports["."] = file
		} else if ours, ok := strings.CutPrefix(imported, module+"/"); ok {
			imports[ours] = file
		}
	}
	return nil
}

// violations returns a line for each import that the table forbids.
func (rooms table) violations(packages map[string]*sourcePackage) []string {
	var found []string
	for pkg, source := range packages {
		may, ok := rooms[pkg]
		if !ok {
			found = append(found, fmt.Sprintf("package %s: no room for it in the table of deps_test.go", pkg))
			continue
		}
		for imported, file := range source.imports {
			if !slices.Contains(may, imported) && !slices.Contains(may, anything) {
				found = append(found, fmt.Sprintf("%s: %s must not import %s; it may import of ours: %s",
					file, pkg, imported, strings.Join(append(slices.Clone(may), "nothing else"), ", ")))
			}
		}
	}
	slices.Sort(found)
	return found
}

// unused returns a line for each room without a package, and for each import that the table allows and no file makes.
func (rooms table) unused(packages map[string]*sourcePackage, roomy []string) []string {
	var found []string
	for room, may := range rooms {
		source, ok := packages[room]
		if !ok {
			found = append(found, fmt.Sprintf("room %s: there is no such package", room))
			continue
		}
		for _, pkg := range may {
			if _, made := source.imports[pkg]; !made && !slices.Contains(roomy, room) {
				found = append(found, fmt.Sprintf("room %s: none of its files imports %s; take it out of the table", room, pkg))
			}
		}
	}
	slices.Sort(found)
	return found
}

func TestImportsKeepToTheTable(t *testing.T) {
	packages := sources(t)
	if _, ok := packages["cmd/dptrain"]; !ok {
		t.Error("found no packages: is this the module's root?")
	}
	for _, v := range rooms.violations(packages) {
		t.Error(v)
	}
}

// An import that the table allows and no file makes could be made one day without a decision.
func TestTableIsAsTightAsTheCode(t *testing.T) {
	for _, u := range rooms.unused(sources(t), roomy) {
		t.Error(u)
	}
}

func TestEveryPackageHasADocFile(t *testing.T) {
	for pkg, source := range sources(t) {
		if !source.documented {
			t.Errorf("package %s has no doc.go with a package comment", pkg)
		}
	}
}

// Without the tag cu nothing is linked with gorgonia.org/cu, which needs CUDA's headers and ends a program where there
// is no driver.
func TestOnlyTheTagNeedsCUDA(t *testing.T) {
	for tags, want := range map[string]bool{"": false, "cu": true} {
		out, err := exec.Command("go", "list", "-deps", "-tags="+tags, "./...").Output()
		if err != nil {
			t.Fatalf("go list -tags=%s: %v", tags, err)
		}
		if got := slices.Contains(strings.Fields(string(out)), "gorgonia.org/cu"); got != want {
			t.Errorf("with the tags %q our packages depend on gorgonia.org/cu: %v, want %v", tags, got, want)
		}
	}
}

// The checkers themselves must be able to fail.
func TestForbiddenImportsAreFound(t *testing.T) {
	for _, c := range []struct{ pkg, imported, want string }{
		{"tuner", "datasets", "tuner/x.go: tuner must not import datasets; it may import of ours: accountant, train, internal/random, nothing else"},
		{"accountant", "internal/random", "tuner/x.go: accountant must not import internal/random; it may import of ours: accountant/internal/pld, accountant/internal/repetitions, internal/float, internal/renyi, nothing else"},
		{"internal/compile", "train", "tuner/x.go: internal/compile must not import train; it may import of ours: internal/graph, nothing else"},
		{"train", "cpu", "tuner/x.go: train must not import cpu; it may import of ours: accountant, internal/compile, internal/engine, internal/given, internal/random, nothing else"},
		{"shed", "train", "package shed: no room for it in the table of deps_test.go"},
		{"internal/compile/shed", "train", "package internal/compile/shed: no room for it in the table of deps_test.go"},
		{"train", "internal/engine", ""},
		{"cpu", "cpu/internal/kernel", ""},
		{"cmd/dptrain", "cuda", ""},
	} {
		got := rooms.violations(map[string]*sourcePackage{c.pkg: {imports: map[string]string{c.imported: "tuner/x.go"}}})
		if text := strings.Join(got, "\n"); text != c.want {
			t.Errorf("%s imports %s: %q, want %q", c.pkg, c.imported, text, c.want)
		}
	}
}

func TestUnusedAllowancesAreFound(t *testing.T) {
	rooms := table{"house": {"garden", "street"}, "garden": nil, "shed": {"garden"}, "annexe": {"street"}}
	packages := map[string]*sourcePackage{
		"house":  {imports: map[string]string{"garden": "house/x.go"}},
		"garden": {},
		"annexe": {},
	}
	want := []string{
		"room house: none of its files imports street; take it out of the table",
		"room shed: there is no such package",
	}
	if got := rooms.unused(packages, []string{"annexe"}); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
