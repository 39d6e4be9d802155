package dptrain_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// lines counts the lines of a package: code, and tests, which are in files named _test.go.
type lines struct{ code, tests int }

// Every package has a budget of lines in testdata/lines.txt: "package code tests". A change that needs more lines
// raises the budget, and says in its commit what was removed elsewhere; a change that removes lines lowers it.
// CONTRIBUTING.md says why.
func TestPackagesKeepTheirBudgets(t *testing.T) {
	const table = "testdata/lines.txt"
	file, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	budgets := map[string]lines{}
	for line := range strings.Lines(string(file)) {
		var pkg string
		var budget lines
		if _, err := fmt.Sscanf(line, "%s %d %d", &pkg, &budget.code, &budget.tests); err != nil {
			t.Fatalf("%s: %q: %v", table, line, err)
		}
		budgets[pkg] = budget
	}

	var all, allowed lines
	has := linesOfPackages(t)
	for pkg, n := range has {
		budget, known := budgets[pkg]
		t.Logf("%-34s code %6d of %6d   tests %6d of %6d", pkg, n.code, budget.code, n.tests, budget.tests)
		if !known || n.code > budget.code || n.tests > budget.tests {
			t.Errorf("%s has %d lines of code and %d of tests; %s allows %d and %d", pkg, n.code, n.tests, table, budget.code, budget.tests)
		}
		all = lines{all.code + n.code, all.tests + n.tests}
		allowed = lines{allowed.code + budget.code, allowed.tests + budget.tests}
	}
	for pkg := range budgets {
		if _, exists := has[pkg]; !exists {
			t.Errorf("%s has a budget for %s, which has no Go files", table, pkg)
		}
	}
	t.Logf("%-34s code %6d of %6d   tests %6d of %6d", "all", all.code, allowed.code, all.tests, allowed.tests)
}

func linesOfPackages(t *testing.T) map[string]lines {
	t.Helper()
	packages := map[string]lines{}
	err := filepath.WalkDir(".", func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (file == "build" || file != "." && strings.HasPrefix(e.Name(), ".")) {
			return fs.SkipDir
		}
		if filepath.Ext(file) != ".go" {
			return nil
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		pkg := path.Dir(filepath.ToSlash(file))
		n := packages[pkg]
		if strings.HasSuffix(file, "_test.go") {
			n.tests += bytes.Count(source, []byte("\n"))
		} else {
			n.code += bytes.Count(source, []byte("\n"))
		}
		packages[pkg] = n
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return packages
}
