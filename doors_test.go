package dptrain_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

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
