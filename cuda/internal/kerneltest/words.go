package kerneltest

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// kernels is the folder of the kernels, from the folder that a test runs in.
const kernels = "../../kernels"

var update = flag.Bool("update", false, "write words.go instead of comparing with it")

// Words checks that the file words.go of the tested package has all names in the enums of the given files of the
// kernels. With the flag -update it writes words.go instead.
func Words(t *testing.T, pkg string, files ...string) {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Code generated from %s by go test ./cuda/internal/%s -update. DO NOT EDIT.\n\npackage %s\n",
		strings.Join(files, " and "), pkg, pkg)
	numbers := map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(kernels, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, enum := range enumText.FindAllStringSubmatch(comment.ReplaceAllString(string(text), ""), -1) {
			names, err := enumerate(enum[1], numbers)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			b.WriteString("\nconst (\n")
			for _, name := range names {
				fmt.Fprintf(&b, "%s = %d\n", camel(name), numbers[name])
			}
			b.WriteString(")\n")
		}
	}
	want, err := format.Source(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("words.go", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile("words.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("words.go isn't what follows from %s: run this test with -update", strings.Join(files, " and "))
	}
}

var (
	enumText = regexp.MustCompile(`(?s)enum\s*\{(.*?)\}`)
	comment  = regexp.MustCompile(`//[^\n]*`)
)

// enumerate returns an enum's names in their order, and adds their numbers to numbers. An explicit number is a sum of
// numbers and names.
func enumerate(list string, numbers map[string]int) (names []string, err error) {
	next := 0
	for entry := range strings.SplitSeq(list, ",") {
		name, value, given := strings.Cut(strings.TrimSpace(entry), "=")
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if given {
			next = 0
			for term := range strings.SplitSeq(value, "+") {
				term = strings.TrimSpace(term)
				n, ok := numbers[term]
				if !ok {
					if n, err = strconv.Atoi(term); err != nil {
						return nil, fmt.Errorf("%s = %s: %w", name, value, err)
					}
				}
				next += n
			}
		}
		if _, twice := numbers[name]; twice {
			return nil, fmt.Errorf("%s is defined twice", name)
		}
		names, numbers[name] = append(names, name), next
		next++
	}
	return names, nil
}

// camel returns the Go name of a C++ name.
func camel(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}
