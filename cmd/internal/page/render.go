package page

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/page/sheet"
	"github.com/dptrain/dptrain/internal/show"
)

//go:embed page.html.tmpl
var pageSource string

// opening begins every page of ours: only files that begin so are replaced.
var opening = sheet.Opening("dptrain report")

var style = sheet.Style()

// policy forbids everything but the style sheet.
func policy() string { return sheet.Policy(style) }

// templates holds the pages. Style sheet and policy are part of the source, where html/template leaves them as they
// are.
var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"plain": show.Printable,
	"lines": func(text string) string {
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			lines[i] = show.Printable(line)
		}
		return strings.Join(lines, "\n")
	},
	"size": sizeText,
	// heading has a section's heading. On a page of several runs, which are numbered, it is a level lower.
	"heading": func(number int, text string) heading { return heading{number, text} },
}).Parse(strings.NewReplacer("OPENING", opening, "STYLE", style, "POLICY", policy()).Replace(pageSource)))

type heading struct {
	Number int
	Text   string
}

// render executes a template by name.
func render(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return nil, fmt.Errorf("make a %s page: %w", name, err)
	}
	return b.Bytes(), nil
}

// isPage reports whether a file is a page of ours. It reads the beginning.
func isPage(r io.Reader) bool {
	begins := make([]byte, len(opening))
	_, err := io.ReadFull(r, begins)
	return err == nil && string(begins) == opening
}
