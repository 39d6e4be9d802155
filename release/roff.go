package main

import (
	"bytes"
	"slices"
	"strings"
)

// roff writes a man page.
type roff struct{ b bytes.Buffer }

func (r *roff) bytes() []byte { return r.b.Bytes() }

// request writes a macro with arguments.
func (r *roff) request(name string, arguments ...string) {
	r.b.WriteString("." + name)
	for _, a := range arguments {
		a = strings.ReplaceAll(escape(a), `"`, `\(dq`)
		if a == "" || strings.Contains(a, " ") {
			a = `"` + a + `"`
		}
		r.b.WriteString(" " + a)
	}
	r.b.WriteByte('\n')
}

// line writes a line of text that is escaped already.
func (r *roff) line(text string) {
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text // a macro would begin
	}
	r.b.WriteString(text + "\n")
}

// item writes a term, escaped, and its text.
func (r *roff) item(term, text string) {
	r.request("TP")
	r.line(term)
	if text == "" {
		r.line(`\&`) // an empty line would end more than the item
		return
	}
	r.line(escape(text))
}

// prose writes paragraphs. Lines that begin with blanks keep their form.
func (r *roff) prose(lines []string) {
	indented := func(s string) bool { return strings.HasPrefix(s, " ") || strings.HasPrefix(s, "\t") }
	paragraph := true // the section's title begins the first one
	for i := 0; i < len(lines); i++ {
		switch line := lines[i]; {
		case line == "":
			paragraph = false
		case indented(line):
			end := i
			for end < len(lines) && (indented(lines[end]) || lines[end] == "" && end+1 < len(lines) && indented(lines[end+1])) {
				end++
			}
			r.verbatim(lines[i:end])
			i, paragraph = end-1, true
		default:
			if !paragraph {
				r.request("PP")
				paragraph = true
			}
			r.line(escape(strings.TrimLeft(line, "# ")))
		}
	}
}

// verbatim writes lines as they are, without the indentation that they share.
func (r *roff) verbatim(lines []string) {
	r.request("PP")
	r.request("RS", "4")
	r.request("nf")
	for _, line := range dedent(lines) {
		r.line(escape(line))
	}
	r.request("fi")
	r.request("RE")
}

// dedent expands tabs to four blanks, and removes the blanks that all lines begin with.
func dedent(lines []string) []string {
	out := make([]string, len(lines))
	shared := -1
	for i, line := range lines {
		out[i] = strings.ReplaceAll(line, "\t", "    ")
		if n := len(out[i]) - len(strings.TrimLeft(out[i], " ")); out[i] != "" && (shared < 0 || n < shared) {
			shared = n
		}
	}
	for i, line := range out {
		out[i] = line[min(max(shared, 0), len(line)):]
	}
	return out
}

func (r *roff) flags(title string, flags []entry) {
	if len(flags) == 0 {
		return
	}
	r.request("SH", title)
	for _, f := range flags {
		term := bold(f.name)
		if value, ok := strings.CutPrefix(f.value, " "); ok {
			term += ` \fI` + escape(value) + `\fR`
		} else {
			term += escape(f.value)
		}
		r.item(term, f.text)
	}
}

// seeAlso names the command above and those below.
func (r *roff) seeAlso(path []string, below []entry) {
	var names []string
	if len(path) > 1 {
		names = append(names, strings.Join(path[:len(path)-1], "-"))
	}
	for _, c := range below {
		if c.name != "help" {
			names = append(names, strings.Join(append(slices.Clone(path), c.name), "-"))
		}
	}
	if len(names) == 0 {
		return
	}
	r.request("SH", "SEE ALSO")
	for i, name := range names {
		end := ","
		if i == len(names)-1 {
			end = ""
		}
		r.line(bold(name) + "(1)" + end)
	}
}

func bold(text string) string { return `\fB` + escape(text) + `\fR` }

// escape makes every character print as itself: roff takes a backslash for a command, a hyphen for a place to break,
// and quotes, carets and tildes for typographic signs.
var escape = strings.NewReplacer(
	`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, "\n", " ", "\r", " ", "\x00", " ",
).Replace
