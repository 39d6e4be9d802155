package tuner

import "math"

// lowest is the score of a trial that failed or diverged: below that of every model.
var lowest = math.Inf(-1)

// none is the winner's index when there was no trial.
const none = -1

// selectBest returns the index of the best score, the earliest of equals, which is an order that doesn't
// depend on the data.
func selectBest(trials []outcome) int {
	best := none
	for i, t := range trials {
		if best == none || t.record.Score > trials[best].record.Score {
			best = i
		}
	}
	return best
}
