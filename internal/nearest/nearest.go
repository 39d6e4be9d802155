package nearest

// Name returns the candidate that takes the fewest edits, the first of equals, or "" where none is near enough. edits
// returns how many a candidate takes and whether that is near enough to be worth suggesting.
func Name(candidates []string, edits func(candidate string) (n int, near bool)) string {
	best, fewest := "", 0
	for _, c := range candidates {
		if n, near := edits(c); near && (best == "" || n < fewest) {
			best, fewest = c, n
		}
	}
	return best
}

// Distance is Levenshtein's: the fewest insertions, deletions and replacements of single bytes that turn a into b.
func Distance(a, b string) int {
	row := make([]int, len(b)+1) // of a's bytes so far, to each beginning of b
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
