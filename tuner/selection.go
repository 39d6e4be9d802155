package tuner

import "math"

// lowest is the score of a trial that failed or diverged. Every model scores higher.
var lowest = math.Inf(-1)

// none is the winner's index if no trial was drawn.
const none = -1

// selectBest returns the index of the outcome with the best score, the first of equal ones, or none. The order of
// outcomes doesn't depend on the data. Trials that haven't ended don't count.
func selectBest(trials []outcome) int {
	best := none
	for i, t := range trials {
		if t.missing {
			continue
		}
		if best == none || t.record.Score > trials[best].record.Score {
			best = i
		}
	}
	return best
}
