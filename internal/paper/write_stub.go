package paper

import "github.com/dptrain/dptrain/internal/campaign"

type Input struct {
	Figures   []Figure
	Selection Selection
	Results   []campaign.Result
	Quick     string
	Program   string
	Missing   int
	Seeded    bool
}

func Write(dir string, in Input) (string, error) { return dir, nil }
