package release

import "testing"

func TestScore(t *testing.T) {
	for s, want := range map[Score]string{
		{Metric: "accuracy", Value: 0.97831}: "97.83 %", {Metric: "R²", Value: 0.91456}: "0.9146", {Metric: "R²", Value: -37.77}: "-37.7700", {Metric: "R²", Value: -3.21e60}: "-3.21e+60",
	} {
		if got := s.String(); got != want {
			t.Errorf("%v prints as %s, want %s", s.Value, got, want)
		}
	}
}
