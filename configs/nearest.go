package configs

import "github.com/dptrain/dptrain/internal/nearest"

// Nearest returns the candidate that a mistyped name most likely stands for, or "" when none is near
// enough to be worth suggesting.
func Nearest(name string, candidates []string) string {
	return nearest.Name(candidates, func(c string) (int, bool) {
		d := nearest.Distance(name, c)
		return d, d <= tolerance(name)
	})
}

// tolerance is the number of edits up to which a name counts as mistyped. One letter has no likeness to another.
func tolerance(name string) int { return min(max(1, (len(name)+1)/3), len(name)-1) }
