package dptrain_test

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

const module = "github.com/dptrain/dptrain"

// table lists the packages of ours that each package imports, by name.
type table map[string][]string

// anything stands for all of our packages.
const anything = "..."

var rooms = table{
	".": nil,

	// Packages for users.
	"accountant":     {"accountant/internal/pld", "accountant/internal/repetitions", "internal/float", "internal/renyi", "internal/strict"},
	"train":          {"accountant", "internal/compile", "internal/engine", "internal/given", "internal/random", "internal/safetensors"},
	"tuner":          {"accountant", "train", "internal/random", "internal/safetensors"},
	"models":         {"train"},
	"datasets":       {"internal/nearest", "internal/wordpiece"},
	"datasets/table": {"internal/memory", "internal/sketch"},
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
	"internal/strict":                 nil,

	// From a graph to an engine.
	"internal/graph":      nil,
	"internal/compile":    {"internal/graph"},
	"internal/engine":     {"internal/compile", "internal/random"},
	"internal/arena":      {"internal/compile"},
	"internal/given":      {"internal/engine"},
	"internal/enginetest": {"internal/compile", "internal/engine", "internal/graph", "internal/long", "internal/random", "models", "train"},
	"internal/long":       nil,

	// Inside tables.

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
	"cuda/internal/ptx":               nil,
	"cuda/internal/walk":              {"cuda/internal/driver", "cuda/internal/kernel", "internal/arena", "internal/compile", "internal/engine"},

	// Packages of the command.
	"internal/accounteval":        {"accountant", "internal/renyi", "internal/strict"},
	"internal/build":              nil,
	"internal/cluster":            nil,
	"internal/fleet":              {"configs", "internal/cluster", "internal/experiment", "internal/remote", "train", "tuner"},
	"internal/campaign":           {"configs", "datasets", "internal/experiment", "internal/ledger", "internal/remote", "internal/report", "internal/runs", "internal/strict", "train", "tuner"},
	"internal/experiment":         {"accountant", "configs", "datasets", "datasets/table", "internal/experiment/planner", "internal/features", "internal/given", "internal/ledger", "internal/memory", "internal/random", "internal/report", "internal/runs", "internal/safetensors", "internal/scores", "models", "train", "tuner"},
	"internal/experiment/planner": {"accountant", "tuner"},
	"internal/features":           {"internal/engine", "internal/safetensors", "models", "train"},
	"internal/figure":             {"accountant"},
	"internal/memory":             nil,
	"internal/onnx":               {"internal/build", "internal/report", "models", "train"},
	"internal/onnx/onnxtest":      nil,
	"internal/nearest":            nil,
	"internal/sketch":             {"internal/strict"},
	"internal/ledger":             {"accountant", "internal/durable", "internal/sketch", "internal/strict"},
	"internal/paper":              {"configs", "datasets", "internal/campaign", "internal/figure", "internal/page/sheet", "internal/report", "models"},
	"internal/page":               {"accountant", "internal/figure", "internal/page/sheet", "internal/report", "internal/safetensors", "train", "tuner"},
	"internal/page/sheet":         nil,
	"internal/random":             nil,
	"internal/remote":             {"configs", "internal/experiment", "internal/report", "internal/strict", "train", "tuner"},
	"internal/report":             {"internal/build", "internal/figure", "internal/memory", "internal/safetensors", "models", "train", "tuner"},
	"internal/durable":            nil,
	"internal/runs":               {"internal/durable"},
	"internal/safetensors":        {"internal/strict"},
	"internal/scores":             {"train"},
	"internal/ui":                 nil,
	"internal/wordpiece":          nil,

	"cmd/dptrain": {anything},
}

// roomy lists the packages that may allow more imports than they make.
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
			if file != "." && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || file == "build") {
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

// Imports are those of the table: one more needs a decision, and one that no file makes could be made without any.
func TestImportsAreThoseOfTheTable(t *testing.T) {
	packages := sources(t)
	for name, p := range packages {
		may, ok := rooms[name]
		if !ok {
			t.Errorf("package %s: it isn't in the table of house_test.go", name)
		}
		for imported, file := range p.imports {
			if !slices.Contains(may, imported) && !slices.Contains(may, anything) {
				t.Errorf("%s: %s must not import %s", file, name, imported)
			}
		}
		if !p.documented {
			t.Errorf("package %s has no doc.go with a package comment", name)
		}
	}
	for name, may := range rooms {
		if packages[name] == nil {
			t.Errorf("the table has %s: there is no such package", name)
			continue
		}
		for _, imported := range may {
			if _, made := packages[name].imports[imported]; !made && !slices.Contains(roomy, name) {
				t.Errorf("the table lets %s import %s: none of its files does", name, imported)
			}
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

// doors returns the packages that programs outside this module can import.
func doors() []string {
	var names []string
	for name := range rooms {
		if name != "." && !strings.HasPrefix(name, "cmd/") && !internal(name) {
			names = append(names, name)
		}
	}
	return names
}

func internal(pkg string) bool { return strings.Contains("/"+pkg+"/", "/internal/") }

// An example that imports an internal package compiles here and nowhere else.
func TestExamplesImportWhatUsersCan(t *testing.T) {
	seen := false
	for _, pkg := range doors() {
		files, err := filepath.Glob(filepath.Join(filepath.FromSlash(pkg), "example*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			seen = true
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			imports := map[string]string{}
			if err := addImports(imports, parsed, file); err != nil {
				t.Fatal(err)
			}
			for imported := range imports {
				if internal(imported) {
					t.Errorf("%s imports %s, which users can't", file, imported)
				}
			}
		}
	}
	if !seen {
		t.Error("found no examples: is this the module's root?")
	}
}

// The documentation that "go doc" shows refers to no name of an internal package: users can't say it.
func TestDocumentationNamesWhatUsersCan(t *testing.T) {
	hidden := map[string]bool{}
	for name := range rooms {
		if internal(name) {
			hidden[path.Base(name)] = true
		}
	}
	link := regexp.MustCompile(`\[\*?([a-z]+)\.[A-Z]\w*`)
	for _, pkg := range doors() {
		names, err := filepath.Glob(filepath.Join(filepath.FromSlash(pkg), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		set := token.NewFileSet()
		var files []*ast.File
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(set, name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		d, err := doc.NewFromFiles(set, files, module+"/"+pkg)
		if err != nil {
			t.Fatal(err)
		}
		texts := []string{d.Doc}
		values := func(list []*doc.Value) {
			for _, v := range list {
				texts = append(texts, v.Doc)
			}
		}
		functions := func(list []*doc.Func) {
			for _, f := range list {
				texts = append(texts, f.Doc)
			}
		}
		values(d.Consts)
		values(d.Vars)
		functions(d.Funcs)
		for _, typ := range d.Types {
			texts = append(texts, typ.Doc)
			values(typ.Consts)
			values(typ.Vars)
			functions(typ.Funcs)
			functions(typ.Methods)
		}
		for _, text := range texts {
			for _, m := range link.FindAllStringSubmatch(text, -1) {
				if hidden[m[1]] {
					t.Errorf("package %s: the doc comment %.60q… refers to %s]", pkg, text, m[0])
				}
			}
		}
	}
}

// maxColumns is the maximum width of a line with a comment. A tab counts as four columns.
const maxColumns = 120

// TestCommentsAreNarrow is a part of make lint.
func TestCommentsAreNarrow(t *testing.T) {
	err := filepath.WalkDir(".", func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if file == "build" || file != "." && strings.HasPrefix(e.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		}
		comments, known := commentLines[filepath.Ext(file)]
		if !known {
			return nil
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, line := range wide(string(source), comments) {
			t.Errorf("%s:%s", file, line)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// commentLines maps a file's extension to the function that returns the lines of a source, from 0, with comments.
var commentLines = map[string]func(source string) []int{
	".go": goComments, ".cu": cComments, ".cuh": cComments, ".h": cComments, ".c": cComments, ".s": cComments,
}

// wide returns a message, "number: …", for each line of a source with a comment that is wider than maxColumns.
func wide(source string, comments func(string) []int) []string {
	lines := strings.Split(source, "\n")
	var found []string
	for _, i := range comments(source) {
		columns := utf8.RuneCountInString(strings.ReplaceAll(lines[i], "\t", "    "))
		if columns > maxColumns && !strings.HasPrefix(strings.TrimSpace(lines[i]), "//go:") {
			found = append(found, fmt.Sprintf("%d: a comment in a line of %d columns, want at most %d", i+1, columns, maxColumns))
		}
	}
	return found
}

// goComments finds comments by Go's scanner, since a string may hold "//" too.
func goComments(source string) []int {
	file := token.NewFileSet().AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(file, []byte(source), nil, scanner.ScanComments)
	var lines []int
	for {
		pos, tok, text := s.Scan()
		switch tok {
		case token.EOF:
			return slices.Compact(lines)
		case token.COMMENT:
			first := file.Line(pos) - 1
			for i := range strings.Count(text, "\n") + 1 {
				lines = append(lines, first+i)
			}
		}
	}
}

// cComments takes every "//" and "/*" for a comment: C, CUDA and assembly here have neither in a string.
func cComments(source string) []int {
	var lines []int
	within := false
	for i, line := range strings.Split(source, "\n") {
		if within || strings.Contains(line, "//") || strings.Contains(line, "/*") {
			lines = append(lines, i)
		}
		if open, end := strings.LastIndex(line, "/*"), strings.LastIndex(line, "*/"); open != end {
			within = open > end
		}
	}
	return lines
}

// A ledger says of private data what was released of them: none is committed.
func TestNoLedgerIsTracked(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("git ls-files: %v", err)
	}
	for name := range strings.SplitSeq(string(out), "\x00") {
		if base := path.Base(name); base == "ledger.json" || base == "ledger.lock" {
			t.Errorf("%s is tracked", name)
		}
	}
}
