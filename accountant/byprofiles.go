package accountant

import "fmt"

// ByProfiles returns epsilon at delta where selections, the best of K runs, are bounded by the divergences of one run
// alone, in the way of Koskela, Redberg and Wang, "Privacy profiles for private selection" (2024). Everything else is
// as in mode [Best], but for orders of scores that outcomes of a final run share. It serves to compare: mode Best,
// which has the exact worst case of a selection, is never above it.
//
// The bound was derived here, from the paper's abstract; see docs/bounds.md. It is E K times the divergence of one run
// at epsilon less the logarithm of the largest ratio of the factors that selection puts on an outcome's two
// probabilities.
func ByProfiles(e Event, delta float64) (epsilon float64, err error) {
	if err := checkDelta(delta); err != nil {
		return 0, err
	}
	if err := Validate(e); err != nil {
		return 0, err
	}
	if e.free() {
		return 0, nil
	}
	e, _ = prepared(e)
	p, _, err := profileOf(e, delta, func(p *profiler) { p.byProfiles = true })
	if err != nil {
		return 0, fmt.Errorf("bound the best of several runs by profiles: %w", err)
	}
	return profileBound{profile: p}.epsilon(delta).Epsilon, nil
}
