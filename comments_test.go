package dptrain_test

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxColumns is the maximum width of a line with a comment. A tab counts as four columns.
const maxColumns = 120

// TestCommentsAreNarrow is a part of make lint.
func TestCommentsAreNarrow(t *testing.T) {
	err := filepath.WalkDir(".", func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if file != "." && strings.HasPrefix(e.Name(), ".") {
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

// The check must be able to fail.
func TestWideCommentsAreFound(t *testing.T) {
	long := strings.Repeat("é", maxColumns)
	for _, c := range []struct {
		name, source string
		comments     func(string) []int
		want         []int
	}{
		{"narrow", "package p // " + long[:100], goComments, nil},
		{"as wide as allowed", "//" + long[4:], goComments, nil},
		{"one column more", "package p\n//" + long[2:], goComments, []int{2}},
		{"a tab is four columns", "package p\n\t//" + long[2*5:], goComments, []int{2}},
		{"code and a comment", "package p\nvar s = \"" + long + "\" // s\n", goComments, []int{2}},
		{"code alone", "package p\nvar s = \"// " + long + "\"\n", goComments, nil},
		{"over lines", "package p\n/* a\n" + long + "é\n*/\n", goComments, []int{3}},
		{"a directive", "package p\n//go:generate " + long + "\n", goComments, nil},
		{"C", "int x;\n// " + long + "\n", cComments, []int{2}},
		{"C over lines", "/* a\n" + long + "é\n*/ int x;\n" + long + "é\n", cComments, []int{2}},
		{"C in one line", "int x; /* a */\n" + long + "é\n", cComments, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var want []string
			for _, line := range c.want {
				want = append(want, fmt.Sprintf("%d:", line))
			}
			got := wide(c.source, c.comments)
			if !slices.EqualFunc(got, want, strings.HasPrefix) {
				t.Errorf("found %q, want lines %v", got, want)
			}
		})
	}
}
