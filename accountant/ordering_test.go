package accountant

// bestOf dominates the best of K runs of what d dominates.
func bestOf(d *pair, k Repetitions) (*pair, error) {
	if alwaysOnce(k) {
		return d, nil
	}
	best, _, err := newSelection(d, k, cellCount).pair(d.removal.step)
	return best, err
}
