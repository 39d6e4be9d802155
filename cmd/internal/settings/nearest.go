package settings

import "github.com/dptrain/dptrain/internal/nearest"

// Nearest returns the candidate most similar to a mistyped name, or "" if none is similar.
func Nearest(name string, candidates []string) string {
	return nearest.Name(candidates, func(c string) (int, bool) {
		d := nearest.Distance(name, c)
		return d, d <= tolerance(name)
	})
}

// tolerance returns the maximum number of edits of a mistyped name: 0 for a single letter.
func tolerance(name string) int { return min(max(1, (len(name)+1)/3), len(name)-1) }
