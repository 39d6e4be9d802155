package term

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/ui"
	"github.com/dptrain/dptrain/internal/durable"
	"github.com/dptrain/dptrain/internal/show"
)

// Output is standard output. It keeps its first error, so that results that a full disk cut short don't pass for
// complete ones.
type Output struct {
	To     io.Writer
	Screen ui.Screen // what it can show
	err    error
}

// Write writes to To until the first error.
func (o *Output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.To.Write(p)
	o.err = err
	return n, err
}

// Failure returns the first error of a write, or nil.
func (o *Output) Failure() error {
	if o.err == nil {
		return nil
	}
	return Inputf("print result: %w", o.err)
}

// widthOf returns the width to which text on w is wrapped, or 0 if it isn't: what reads w may be a program.
func widthOf(w io.Writer) int {
	if o, ok := w.(*Output); ok {
		return o.Screen.Width()
	}
	return 0
}

// Sentence writes a line of words.
func Sentence(w io.Writer, text string) { fmt.Fprintln(w, ui.Wrap(text, widthOf(w), 0)) }

// Rows writes facts in two columns.
func Rows(w io.Writer, facts release.Facts) {
	var lines [][]string
	for _, f := range facts {
		lines = append(lines, f[:])
	}
	Columns(w, lines...)
}

// Columns writes lines of cells in columns.
func Columns(w io.Writer, lines ...[]string) {
	var text strings.Builder
	for _, cells := range lines {
		for i, cell := range cells {
			cells[i] = show.Printable(cell)
		}
		fmt.Fprintln(&text, strings.Join(cells, "\t"))
	}
	fmt.Fprint(w, ui.Columns(text.String(), widthOf(w)))
}

// Plural returns one or several, whichever goes with n.
func Plural(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

// Relative shortens a path below the working directory.
func Relative(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	short, err := filepath.Rel(wd, path)
	if err != nil || strings.HasPrefix(short, "..") {
		return path
	}
	return short
}

// Create writes a new file, which is never there in part: not even if the program is killed. Of two programs that
// write it at once, the later one's stays.
func Create(path string, contents []byte, mode fs.FileMode) error {
	if _, err := os.Lstat(path); err == nil {
		return Inputf("%s already exists; give another file, or remove it", path)
	}
	if err := durable.WriteFile(path, ".dptrain-*", contents, mode); err != nil {
		return Inputf("write the result: %w", err)
	}
	return nil
}
