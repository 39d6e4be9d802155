package main

import (
	"fmt"
	"regexp"
	"strings"
)

// help is what "dptrain … --help" prints, in parts. Man pages are made from it, so that they say what the command says.
type help struct {
	text     []string // lines before the usage
	usage    []string
	examples []string // indented by two spaces
	commands []entry
	flags    []entry
	global   []entry
}

// entry is a command or a flag, and its description.
type entry struct {
	name  string // of a flag: with its dashes, "-h, --help"
	value string // what follows the flag's name: " float", "[=true]", or nothing
	text  string
}

// heading matches the lines that begin a part after the text.
var heading = regexp.MustCompile(`^(Usage|Aliases|Examples|Available Commands|Flags|Global Flags):$`)

// trailer is the last line of a command that has others.
var trailer = regexp.MustCompile(`^Use "dptrain .*--help" for more information about a command\.$`)

// parseHelp splits a help text. A part or a flag of a form that it doesn't know is an error, so that no page lacks
// something.
func parseHelp(text string) (help, error) {
	var h help
	part := ""
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		line = strings.TrimRight(line, " \r")
		if m := heading.FindStringSubmatch(line); m != nil && (part != "" || m[1] == "Usage") {
			part = m[1]
			continue
		}
		if part != "" && (line == "" && part != "Examples" || trailer.MatchString(line)) {
			continue
		}
		if err := h.add(part, line); err != nil {
			return help{}, fmt.Errorf("help, line %d: %w", i+1, err)
		}
	}
	if part == "" {
		return help{}, fmt.Errorf("help: want a part that begins with the line %q", "Usage:")
	}
	h.text, h.examples = trimBlank(h.text), trimBlank(h.examples)
	return h, nil
}

func (h *help) add(part, line string) (err error) {
	switch part {
	case "":
		h.text = append(h.text, line)
	case "Usage":
		h.usage = append(h.usage, strings.TrimSpace(line))
	case "Examples":
		h.examples = append(h.examples, line)
	case "Available Commands":
		h.commands, err = addEntry(h.commands, line, commandLine)
	case "Flags":
		h.flags, err = addEntry(h.flags, line, flagLine)
	case "Global Flags":
		h.global, err = addEntry(h.global, line, flagLine)
	default:
		err = fmt.Errorf("%s: no page has a place for it", part)
	}
	return err
}

var (
	commandLine = regexp.MustCompile(`^  ([a-z][-a-z0-9]*)() +(\S.*)$`)
	flagLine    = regexp.MustCompile(`^ {2,6}((?:-[a-zA-Z], )?--[a-z][-a-z0-9]*)((?:\[=\S+\])?(?: \S+)?)(?: {2,}(\S.*))?$`)
)

// addEntry reads a line of the given form, or one that goes on with the entry before.
func addEntry(to []entry, line string, form *regexp.Regexp) ([]entry, error) {
	if m := form.FindStringSubmatch(line); m != nil {
		return append(to, entry{m[1], m[2], m[3]}), nil
	}
	if deep := strings.HasPrefix(line, "        "); !deep || len(to) == 0 || strings.HasPrefix(strings.TrimSpace(line), "-") {
		return nil, fmt.Errorf("%q is neither a command nor a flag", line)
	}
	to[len(to)-1].text += " " + strings.TrimSpace(line)
	return to, nil
}

// trimBlank removes empty lines at both ends.
func trimBlank(lines []string) []string {
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
