package nearest

// Name returns the candidate with the fewest edits, the first of several, or "" if none is near enough. edits returns a
// candidate's number of edits and whether that is near enough to suggest.
func Name(candidates []string, edits func(candidate string) (n int, near bool)) string {
	best, fewest := "", 0
	for _, c := range candidates {
		if n, near := edits(c); near && (best == "" || n < fewest) {
			best, fewest = c, n
		}
	}
	return best
}

// Distance returns Levenshtein's distance: the minimum number of insertions, deletions and replacements of single bytes
// that turn a into b.
func Distance(a, b string) int {
	row := make([]int, len(b)+1) // distances of a's bytes so far to each prefix of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
