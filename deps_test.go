package dptrain_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/dptrain/dptrain"

// rooms says which of our packages each package may import. A name that ends in /... stands for the
// packages below it; the longest room that matches a package is the package's own.
var rooms = []struct {
	room string
	may  []string
}{
	{".", nil},
	{"accountant", nil},
	{"datasets", []string{"internal/nearest"}},
	{"models", nil},
	{"configs", []string{"internal/nearest"}},
	{"internal/random", nil},
	{"internal/nearest", nil},
	{"internal/figure", []string{"accountant"}},
	{"internal/report", []string{"accountant"}},
	{"internal/ui", []string{"accountant"}},
	{"train/compile", nil},
	{"train/compile/...", []string{"train/compile", "train/compile/..."}},
	{"train/engine", []string{"train/compile", "internal/random"}},
	{"train/cpu", []string{"train/engine", "train/compile", "internal/random", "train/cpu/internal/..."}},
	{"train/cpu/internal/...", []string{"train/cpu/internal/..."}},
	{"train/enginetest", []string{"train/engine", "train/compile", "models", "internal/random"}},
	{"train", []string{"accountant", "models", "datasets", "train/...", "internal/random"}},
	{"tuner", []string{"accountant", "train", "train/engine", "internal/random"}},
	{"cuda", []string{"train/engine", "train/compile", "internal/random"}},
	{"cmd/dptrain", []string{"..."}},
}

func matches(pattern, pkg string) bool {
	if below, ok := strings.CutSuffix(pattern, "..."); ok {
		return strings.HasPrefix(pkg, below)
	}
	return pattern == pkg
}

// allowed returns what a package may import, or false where the table has no room for it.
func allowed(pkg string) (may []string, ok bool) {
	longest := -1
	for _, r := range rooms {
		if matches(r.room, pkg) && len(r.room) > longest {
			may, ok, longest = r.may, true, len(r.room)
		}
	}
	return may, ok
}

// sourcePackage is what one directory's files say, whatever their build tags.
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
func violations(packages map[string]*sourcePackage) []string {
	var found []string
	for pkg, source := range packages {
		may, ok := allowed(pkg)
		if !ok {
			found = append(found, fmt.Sprintf("package %s: no room for it in the table of deps_test.go", pkg))
			continue
		}
		for imported, file := range source.imports {
			if !slices.ContainsFunc(may, func(pattern string) bool { return matches(pattern, imported) }) {
				found = append(found, fmt.Sprintf("%s: %s must not import %s; it may import of ours: %s",
					file, pkg, imported, strings.Join(append(may, "nothing else"), ", ")))
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
	for _, v := range violations(packages) {
		t.Error(v)
	}
}

func TestEveryPackageHasADocFile(t *testing.T) {
	for pkg, source := range sources(t) {
		if !source.documented {
			t.Errorf("package %s has no doc.go with a package comment", pkg)
		}
	}
}

// The checker itself must be able to fail.
func TestForbiddenImportsAreFound(t *testing.T) {
	for _, c := range []struct{ pkg, imported, want string }{
		{"tuner", "datasets", "tuner/x.go: tuner must not import datasets; it may import of ours: accountant, train, train/engine, internal/random, nothing else"},
		{"accountant", "internal/random", "tuner/x.go: accountant must not import internal/random; it may import of ours: nothing else"},
		{"train/compile", "train", "tuner/x.go: train/compile must not import train; it may import of ours: nothing else"},
		{"train", "cuda", "tuner/x.go: train must not import cuda; it may import of ours: accountant, models, datasets, train/..., internal/random, nothing else"},
		{"shed", "train", "package shed: no room for it in the table of deps_test.go"},
		{"train", "train/cpu", ""},
		{"train/cpu/internal/blas", "train/cpu/internal/asm", ""},
		{"cmd/dptrain", "cuda", ""},
	} {
		got := violations(map[string]*sourcePackage{c.pkg: {imports: map[string]string{c.imported: "tuner/x.go"}}})
		if text := strings.Join(got, "\n"); text != c.want {
			t.Errorf("%s imports %s: %q, want %q", c.pkg, c.imported, text, c.want)
		}
	}
}
