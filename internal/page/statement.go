package page

import (
	"regexp"
	"strings"
)

// Block is a heading, a paragraph or a list of a statement.
type Block struct {
	Kind  string   // heading, paragraph or list
	Items [][]Span // the items of a list, or one
}

// Span is a part of a block in one face.
type Span struct {
	Text string
	Face string // bold, code, or "" for plain text
}

// parseStatement reads the Markdown of a STATEMENT.md: headings of level 2, paragraphs, lists with hyphens, bold text
// and code. Anything else stays as it is written. The title is left out.
func parseStatement(text string) []Block {
	var blocks []Block
	var lines []string // of the block that is being read
	kind := ""
	end := func() {
		if len(lines) > 0 {
			item := spans(strings.Join(lines, " "))
			if last := len(blocks) - 1; kind == "list" && last >= 0 && blocks[last].Kind == "list" {
				blocks[last].Items = append(blocks[last].Items, item)
			} else {
				blocks = append(blocks, Block{kind, [][]Span{item}})
			}
		}
		lines, kind = nil, ""
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		heading, isHeading := strings.CutPrefix(line, "## ")
		item, isItem := strings.CutPrefix(line, "- ")
		switch {
		case line == "":
			end()
		case strings.HasPrefix(line, "# "):
			end()
		case isHeading:
			end()
			lines, kind = []string{heading}, "heading"
			end()
		case isItem:
			end()
			lines, kind = []string{item}, "list"
		default:
			if kind == "" {
				kind = "paragraph"
			}
			lines = append(lines, line)
		}
	}
	end()
	return blocks
}

// marked matches a part in bold or in code. A mark without a partner is text.
var marked = regexp.MustCompile("\\*\\*(.+?)\\*\\*|`([^`]+)`")

func spans(text string) []Span {
	var out []Span
	from := 0
	for _, at := range marked.FindAllStringSubmatchIndex(text, -1) {
		if at[0] > from {
			out = append(out, Span{Text: text[from:at[0]]})
		}
		if at[2] >= 0 {
			out = append(out, Span{text[at[2]:at[3]], "bold"})
		} else {
			out = append(out, Span{text[at[4]:at[5]], "code"})
		}
		from = at[1]
	}
	if from < len(text) {
		out = append(out, Span{Text: text[from:]})
	}
	return out
}
