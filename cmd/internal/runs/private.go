package runs

import "github.com/dptrain/dptrain/tuner"

// PrivateTuning is private/run.json of a tuning.
type PrivateTuning struct {
	Warning      string         `json:"warning"`
	Repetitions  int            `json:"repetitions"` // K
	SubsetSize   int            `json:"subset_size"`
	Best         int            `json:"best"` // index into Trials; -1 for none
	Trials       []PrivateTrial `json:"trials"`
	FinalSeconds float64        `json:"final_seconds"`
	Notes        []string       `json:"notes,omitempty"` // on the training rows
}

// PrivateTrial is one trial of a tuning.
type PrivateTrial struct {
	tuner.Candidate
	Score    *float64 `json:"score,omitempty"` // missing if it failed or diverged
	Diverged bool     `json:"diverged,omitempty"`
	Failure  string   `json:"failure,omitempty"`
	Seconds  float64  `json:"seconds"`
}
