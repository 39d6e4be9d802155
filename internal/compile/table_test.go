package compile_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
)

var update = flag.Bool("update", false, "write operations.md anew")

// operations.md lists the operations that the code supports and refuses.
func TestOperationsTable(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(`# Gorgonia's operations

Made from the code by ` + "`go test ./internal/compile -run OperationsTable -update`" + `. "Compiled" operations become part of a step
program, for the operands and axes that their rules know. An operation that isn't listed is refused, and so is every
operation of another package.

| made by | type | |
|---|---|---|
`)
	for _, o := range compile.Operations() {
		kind := o.Kind
		if o.Operator != "" {
			kind += ", " + o.Operator
		}
		if o.Ruled != (o.Refused == "") {
			t.Errorf("%s has a rule: %v; it is refused because %q", kind, o.Ruled, o.Refused)
		}
		outcome := "compiled"
		switch {
		case o.Refused != "":
			outcome = fmt.Sprintf("refused: %s; use %s", o.Refused, o.Instead)
		case o.Limits != "":
			outcome += ", " + o.Limits
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", o.Made, kind, outcome)
	}
	if *update {
		if err := os.WriteFile("operations.md", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("operations.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Error("operations.md isn't what the code says; run this test with -update and read the difference")
	}
}

// The list has every operation in Gorgonia's source, except operations that only differentiation adds.
func TestListIsComplete(t *testing.T) {
	pkg, err := build.Import("gorgonia.org/gorgonia", ".", 0)
	if err != nil {
		t.Skipf("Gorgonia's source isn't at hand: %v", err)
	}
	listed := map[string]bool{}
	for _, o := range compile.Operations() {
		listed[o.Kind] = true
	}
	for _, kind := range []string{ // added to a graph only by differentiation
		"avgPoolDiffOp", "batchnormDiffOp", "byIndicesOpDiffOp", "col2imOp", "ctcLossDiffOp", "dropoutDiffOp", "groupNormDiffOp",
		"maxPoolDiffOp", "sliceIncrOp", "softmaxDiffOp", "sparsemaxDiffOp", "upsampleDiffOp", "yoloDiffOp",
		"clampOp", "devTrans", "ExternalOp", "letOp", "readOp", // never put below another node by Gorgonia
	} {
		listed[kind] = true
	}
	var found []string
	for _, file := range pkg.GoFiles {
		parsed, err := parser.ParseFile(token.NewFileSet(), pkg.Dir+"/"+file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != "Hashcode" {
				continue
			}
			kind := strings.TrimPrefix(typeText(f.Recv.List[0].Type), "*")
			if kind != "Node" {
				found = append(found, kind)
			}
		}
	}
	if len(found) < 30 {
		t.Errorf("found %d operations only: the test shows nothing", len(found))
	}
	for _, kind := range found {
		if !listed[kind] {
			t.Errorf("Gorgonia's %s isn't in the list", kind)
		}
	}
}

func typeText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeText(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// The zoo has every operation that is compiled: every engine's gradient of it is checked.
func TestEveryCompiledOperationIsInTheZoo(t *testing.T) {
	seen := map[[2]string]bool{}
	for _, z := range enginetest.Zoo() {
		src, err := z.Build(1)
		if err != nil {
			t.Fatal(err)
		}
		for n := range gorgonia.WalkGraph(src.Cost) {
			if n.Op() != nil {
				seen[[2]string{graph.Kind(n.Op()), graph.Operator(n.Op())}] = true
			}
		}
	}
	var missing []string
	for _, o := range compile.Operations() {
		if o.Refused == "" && !seen[[2]string{o.Kind, o.Operator}] {
			missing = append(missing, strings.TrimSpace(o.Kind+" "+o.Operator))
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		t.Errorf("no graph of the zoo has %s", strings.Join(missing, ", "))
	}
}
