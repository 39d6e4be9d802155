package configs

// Nearest returns the candidate that a mistyped name most likely stands for, or "" when none is near
// enough to be worth suggesting.
func Nearest(name string, candidates []string) string {
	best, bestDistance := "", tolerance(name)+1
	for _, c := range candidates {
		if d := distance(name, c); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// tolerance is the number of edits up to which a name counts as mistyped. One letter has no likeness to another.
func tolerance(name string) int { return min(max(1, (len(name)+1)/3), len(name)-1) }

// distance is Levenshtein's: the fewest insertions, deletions and substitutions of bytes that turn a
// into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
