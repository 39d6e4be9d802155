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

// room is a folder of packages, and the rooms that they may import.
type room struct {
	folder string
	may    []string
}

// A room may import only rooms above it in the table, so neither internal nor the library imports anything of the
// command. docs/architecture.md describes each room.
var rooms = []room{
	{"internal", nil},
	{"accountant", []string{"internal"}},
	{"configs", nil},
	{"cpu", []string{"internal"}},
	{"cuda", []string{"internal"}},
	{"train", []string{"internal", "accountant"}},
	{"models", []string{"internal", "train"}},
	{"datasets", []string{"internal", "train"}},
	{"tuner", []string{"internal", "accountant", "train"}},
	{"bench/peers", []string{"cpu", "train", "models"}}, // public packages alone
	// what copies of them would import
	{"examples", []string{"accountant", "cpu", "train", "models", "datasets", "tuner"}},

	{"cmd/internal/ui", nil},
	{"cmd/internal/build", nil},
	{"cmd/internal/settings", []string{"internal", "configs", "datasets"}},
	{"cmd/internal/accounteval", []string{"internal", "accountant"}},
	{"cmd/internal/figure", []string{"accountant", "train"}},
	{"cmd/internal/runs", []string{"internal", "accountant", "tuner"}},
	{"cmd/internal/release", []string{"internal", "train", "datasets", "tuner", "cmd/internal/build", "cmd/internal/figure"}},
	{"cmd/internal/page", []string{"internal", "accountant", "train", "tuner", "cmd/internal/figure", "cmd/internal/runs", "cmd/internal/release"}},
	{"cmd/internal/experiment", []string{"internal", "accountant", "datasets", "train", "tuner", "cmd/internal/settings", "cmd/internal/runs", "cmd/internal/release"}},
	{"cmd/internal/cluster", []string{"internal", "train", "tuner", "cmd/internal/settings", "cmd/internal/release", "cmd/internal/experiment"}},
	{"cmd/internal/reproduce", []string{"internal", "train", "tuner", "cmd/internal/settings", "cmd/internal/figure", "cmd/internal/runs", "cmd/internal/release", "cmd/internal/page", "cmd/internal/experiment", "cmd/internal/cluster"}},
	{"cmd/internal/term", []string{"internal", "datasets", "tuner", "cmd/internal/ui", "cmd/internal/settings", "cmd/internal/release"}},
	{"cmd/internal/engines", []string{"cpu", "cuda", "train", "cmd/internal/build", "cmd/internal/settings", "cmd/internal/term"}},
	{"cmd/internal/suggest", []string{"internal", "datasets", "cmd/internal/settings", "cmd/internal/release", "cmd/internal/term"}},
	{"cmd/internal/flags", []string{"internal", "datasets", "cmd/internal/settings", "cmd/internal/runs", "cmd/internal/release", "cmd/internal/experiment", "cmd/internal/term"}},
	{"cmd/internal/execution", []string{"internal", "train", "cmd/internal/ui", "cmd/internal/build", "cmd/internal/settings", "cmd/internal/runs", "cmd/internal/experiment", "cmd/internal/cluster", "cmd/internal/term", "cmd/internal/engines", "cmd/internal/flags"}},
	{"cmd/dptrain", nil}, // the command may import everything
}

// roomOf returns the room of a package.
func roomOf(pkg string) (room, bool) {
	i := slices.IndexFunc(rooms, func(r room) bool { return strings.HasPrefix(pkg+"/", r.folder+"/") })
	if i < 0 {
		return room{}, false
	}
	return rooms[i], true
}

// sourcePackage holds the imports of one directory's files, with any build tags.
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

func TestNothingImportsUpwards(t *testing.T) {
	made := map[string]bool{} // by the rooms' folders, with a space between
	for name, p := range sources(t) {
		if !p.documented {
			t.Errorf("package %s has no doc.go with a package comment", name)
		}
		if name == "." {
			continue
		}
		in, ok := roomOf(name)
		if !ok {
			t.Errorf("package %s is in no room of house_test.go", name)
		}
		for imported, file := range p.imports {
			of, _ := roomOf(imported)
			made[in.folder+" "+of.folder] = true
			if of.folder != in.folder && in.folder != "cmd/dptrain" && !slices.Contains(in.may, of.folder) {
				t.Errorf("%s: %s must not import %s", file, in.folder, imported)
			}
		}
	}
	for i, r := range rooms {
		for _, may := range r.may {
			if !slices.ContainsFunc(rooms[:i], func(below room) bool { return below.folder == may }) {
				t.Errorf("the table lets %s import %s, which doesn't stand above it in the table", r.folder, may)
			}
			if !made[r.folder+" "+may] {
				t.Errorf("the table lets %s import %s, and nothing in it does", r.folder, may)
			}
		}
	}
}

// Without the tag cu nothing is linked with gorgonia.org/cu, which needs CUDA's headers and ends a program without a
// driver.
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
func doors(t *testing.T) []string {
	var names []string
	for name := range sources(t) {
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
	for _, pkg := range doors(t) {
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

// The documentation that "go doc" shows refers to no name of an internal package: users can't use it.
func TestDocumentationNamesWhatUsersCan(t *testing.T) {
	hidden := map[string]bool{}
	for name := range sources(t) {
		if internal(name) {
			hidden[path.Base(name)] = true
		}
	}
	link := regexp.MustCompile(`\[\*?([a-z]+)\.[A-Z]\w*`)
	for _, pkg := range doors(t) {
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

// cComments treats every "//" and "/*" as a comment: C, CUDA and assembly here have neither in a string.
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

// A ledger describes the releases of private data: none is committed.
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
