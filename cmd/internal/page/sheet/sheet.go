package sheet

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"regexp"
	"strings"
)

//go:embed page.css
var source string

var comments = regexp.MustCompile(`(?s)/\*.*?\*/\s*`)

// Style returns the content of a page's style element: the common style sheet and the page's own rules, without
// comments, which html/template would remove after [Policy] computed the hash.
func Style(own ...string) string {
	var all []string
	for _, text := range append([]string{source}, own...) {
		all = append(all, strings.TrimSpace(comments.ReplaceAllString(text, "")))
	}
	return "\n" + strings.Join(all, "\n") + "\n"
}

// Policy returns the content security policy of a page that has a style element and loads nothing.
func Policy(style string) string {
	hash := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'; base-uri 'none'; form-action 'none'"
}

// Opening returns the beginning of a page, up to the name of the command that made it.
func Opening(generator string) string {
	return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"generator\" content=\"" + generator + "\">\n"
}
