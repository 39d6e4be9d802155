package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// sources tells which function of the kernels' sources a line is in.
type sources map[string][]string // the function of each line, by file

var (
	kernelStart = regexp.MustCompile(`^KERNEL\((\w+)\)`)
	atMargin    = regexp.MustCompile(`^(?:template <.*> )?[A-Za-z_][^(]*?(\w+)\(`)
	inStruct    = regexp.MustCompile(`^\t(?:template <.*> )?DEVICE [^(]*?(\w+)\(`)
)

// sourcesOf reads the sources. They are formatted so that functions and structs begin at the margin, and a struct's
// functions one tab from it.
func sourcesOf(dir fs.FS) (sources, error) {
	out := sources{}
	for _, pattern := range []string{"*.cu", "*.cuh"} {
		names, err := fs.Glob(dir, pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			text, err := fs.ReadFile(dir, name)
			if err != nil {
				return nil, err
			}
			function := ""
			for line := range strings.Lines(string(text)) {
				for _, start := range []*regexp.Regexp{kernelStart, inStruct, atMargin} {
					if m := start.FindStringSubmatch(line); m != nil {
						function = m[1]
						break
					}
				}
				out[name] = append(out[name], function)
			}
		}
	}
	return out, nil
}

// function returns the name of the function that a position is in, or of the file if that is CUDA's.
func (s sources) function(p position) string {
	if lines := s[p.file]; p.line >= 1 && p.line <= len(lines) && lines[p.line-1] != "" {
		return lines[p.line-1]
	}
	return strings.TrimSuffix(p.file, path.Ext(p.file))
}

// found is a loop that is to be named.
type found struct {
	k    *kernel
	l    *loop
	name string
}

// calls returns the position of the loop's statement, and where that was inlined, the outermost first. The branch back
// is of the statement's line.
func (f *found) calls() []position {
	calls := slices.Clone(f.k.code[f.l.last].calls)
	slices.Reverse(calls)
	return calls
}

// nameAll names loops by the functions that were inlined into one another around them, so that edits elsewhere in the
// sources leave the names as they are: kernel/function/function#1. #1 is the first loop in that function, and [2] after
// a function its second call by the function before, both of those with loops. Loops that the compiler made of the same
// statement end in .1, .2, and so on.
func nameAll(all []*found, s sources) {
	type place struct{ caller, callee string }
	lines := map[place][]int{}
	each := func(visit func(f *found, at place, line int)) {
		for _, f := range all {
			calls := f.calls()
			for i, p := range calls {
				at := place{caller: s.function(p)}
				if i+1 < len(calls) {
					at.callee = s.function(calls[i+1])
				}
				visit(f, at, p.line)
			}
		}
	}
	each(func(_ *found, at place, line int) { lines[at] = append(lines[at], line) })
	for at := range lines {
		slices.Sort(lines[at])
		lines[at] = slices.Compact(lines[at])
	}
	for _, f := range all {
		f.name = f.k.name
		if calls := f.calls(); len(calls) == 0 {
			f.name += "/?"
		} else if outermost := s.function(calls[0]); outermost != f.k.name {
			f.name += "/" + outermost // a subroutine
		}
	}
	each(func(f *found, at place, line int) {
		n, _ := slices.BinarySearch(lines[at], line)
		switch {
		case at.callee == "":
			f.name += fmt.Sprintf("#%d", n+1)
		case len(lines[at]) > 1:
			f.name += fmt.Sprintf("/%s[%d]", at.callee, n+1)
		default:
			f.name += "/" + at.callee
		}
	})
	copies := map[string]int{}
	for _, f := range all {
		copies[f.name]++
	}
	made := map[string]int{}
	for _, f := range all {
		if name := f.name; copies[name] > 1 {
			made[name]++
			f.name = fmt.Sprintf("%s.%d", name, made[name])
		}
	}
	slices.SortStableFunc(all, func(a, b *found) int {
		if c := cmp.Compare(a.k.name, b.k.name); c != 0 {
			return c
		}
		return slices.CompareFunc(a.calls(), b.calls(), func(p, q position) int {
			return cmp.Or(cmp.Compare(p.file, q.file), cmp.Compare(p.line, q.line))
		})
	})
}
