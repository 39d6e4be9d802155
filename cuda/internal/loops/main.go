package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "loops:", err)
		os.Exit(1)
	}
}

func run(args []string, w io.Writer) error {
	if len(args) < 2 {
		return errors.New("call it with the folder of the sources and the listings of modules")
	}
	var listings []string
	for _, file := range args[1:] {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		listings = append(listings, string(text))
	}
	table, err := table(os.DirFS(args[0]), listings...)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, table)
	return err
}

// columns are what is counted: instructions that begin so.
var columns = []struct{ title, start string }{
	{"all", ""}, {"FFMA", "FFMA"}, {"LDG", "LDG"}, {"LDS", "LDS"}, {"IMAD", "IMAD"}, {"RCP", "MUFU.RCP"}, {"CALL", "CALL"},
}

// count returns the columns' counts of some instructions.
func (k *kernel) count(which []int) []int {
	out := make([]int, len(columns))
	for _, i := range which {
		text, _ := k.code[i].operation()
		for c := range columns {
			if strings.HasPrefix(text, columns[c].start) {
				out[c]++
			}
		}
	}
	return out
}

const head = `# Made by cuda/kernels/build: instructions of the kernels' loops on Hopper (sm_90), path | loop. See cuda/internal/loops.
`

// table lists all loops of some listings.
func table(dir fs.FS, listings ...string) (string, error) {
	s, err := sourcesOf(dir)
	if err != nil {
		return "", err
	}
	var all []*found
	for _, listing := range listings {
		kernels, err := parse(listing)
		if err != nil {
			return "", err
		}
		for _, k := range kernels {
			loops, err := k.loops()
			if err != nil {
				return "", err
			}
			for _, l := range loops {
				all = append(all, &found{k: k, l: l})
			}
		}
	}
	nameAll(all, s)
	var b strings.Builder
	b.WriteString(head)
	var titles string
	for _, c := range columns {
		titles += fmt.Sprintf("%5s", c.title)
	}
	fmt.Fprintf(&b, "#%s |%s inside name\n", titles[1:], titles)
	for _, f := range all {
		for _, n := range f.k.count(f.l.path) {
			fmt.Fprintf(&b, "%5d", n)
		}
		b.WriteString(" |")
		for _, n := range f.k.count(f.l.own) {
			fmt.Fprintf(&b, "%5d", n)
		}
		fmt.Fprintf(&b, "%7d %s\n", f.l.inside, f.name)
	}
	return b.String(), nil
}
