package main

import (
	"fmt"
	"regexp"
	"strings"
)

// summary is the root command's line in lists of manuals. Those of other commands are in their parents' help.
const summary = "train models with differential privacy, tuning included"

// manual returns a man page for each command: man/man1/dptrain-tune.1.
func manual(c command, src source) ([]file, error) {
	var pages []file
	var add func(path []string, summary string) error
	add = func(path []string, summary string) error {
		text, err := c.output(append(path[1:len(path):len(path)], "--help")...)
		if err != nil {
			return err
		}
		h, err := parseHelp(text)
		if err != nil {
			return fmt.Errorf("%s: %w", strings.Join(path, " "), err)
		}
		pages = append(pages, file{"man/man1/" + strings.Join(path, "-") + ".1", 0o644, page(path, summary, h, src)})
		for _, sub := range h.commands {
			if sub.name == "help" {
				continue
			}
			if err := add(append(path[:len(path):len(path)], sub.name), sub.text); err != nil {
				return err
			}
		}
		return nil
	}
	err := add([]string{"dptrain"}, summary)
	return pages, err
}

// page returns a command's man page, in the macros of man(7). path is the command with its parents.
func page(path []string, summary string, h help, src source) []byte {
	var r roff
	name := strings.Join(path, "-")
	r.request("TH", strings.ToUpper(name), "1", src.time.Format("2006-01-02"), "dptrain "+src.short(), "dptrain")
	r.request("nh") // hyphens inside of names of settings would look like parts of them
	r.request("ad", "l")
	r.request("SH", "NAME")
	r.line(escape(name) + ` \- ` + escape(summary))
	r.request("SH", "SYNOPSIS")
	for i, line := range h.usage {
		if i > 0 {
			r.request("br")
		}
		r.line(bold(line))
	}
	text, codes := exitStatus(h.text)
	r.request("SH", "DESCRIPTION")
	r.prose(text)
	if len(h.commands) > 0 {
		r.request("SH", "COMMANDS")
		for _, c := range h.commands {
			r.item(bold(c.name), c.text)
		}
	}
	r.flags("OPTIONS", h.flags)
	r.flags("GLOBAL OPTIONS", h.global)
	if len(codes) > 0 {
		r.request("SH", "EXIT STATUS")
		for _, c := range codes {
			r.item(bold(c.name), c.text)
		}
	}
	if len(h.examples) > 0 {
		r.request("SH", "EXAMPLES")
		r.verbatim(h.examples)
	}
	r.seeAlso(path, h.commands)
	return r.bytes()
}

var exitCode = regexp.MustCompile(`^  (\d+) +(\S.*)$`)

// exitStatus splits a text from the table of exit codes at its end.
func exitStatus(text []string) (rest []string, codes []entry) {
	for i, line := range text {
		if line != "Exit codes:" {
			continue
		}
		for _, line := range text[i+1:] {
			switch m := exitCode.FindStringSubmatch(line); {
			case m != nil:
				codes = append(codes, entry{name: m[1], text: m[2]})
			case len(codes) > 0 && strings.HasPrefix(line, "       "):
				codes[len(codes)-1].text += " " + strings.TrimSpace(line)
			default: // something else than a table
				return text, nil
			}
		}
		return trimBlank(text[:i]), codes
	}
	return text, nil
}
