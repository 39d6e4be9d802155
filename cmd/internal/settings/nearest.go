package settings

import (
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/internal/nearest"
)

// Nearest returns the candidate most similar to a mistyped name, or "" if none is similar.
func Nearest(name string, candidates []string) string {
	return nearest.Name(candidates, func(c string) (int, bool) {
		d := nearest.Distance(name, c)
		return d, d <= tolerance(name)
	})
}

// Unknown returns the error for a name that isn't one of names. It has the most similar one, or else all.
func Unknown(what, name string, names []string) error {
	return unknown(what, name, names, "there are "+strings.Join(names, ", "))
}

func unknown(what, name string, names []string, otherwise string) error {
	if near := Nearest(name, names); near != "" {
		otherwise = "did you mean " + near + "?"
	}
	return fmt.Errorf("unknown %s %q; %s", what, name, otherwise)
}

// tolerance returns the maximum number of edits of a mistyped name: 0 for a single letter.
func tolerance(name string) int { return min(max(1, (len(name)+1)/3), len(name)-1) }
