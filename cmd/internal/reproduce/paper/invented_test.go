package paper

import (
	"math"
	"math/rand/v2"

	"github.com/dptrain/dptrain/cmd/internal/reproduce/campaign"
)

// invent returns plausible results of all jobs of some figures, the same each time, without any run. It leaves out the
// jobs for which skip returns true.
func invent(figures []Figure, s Selection, skip func(campaign.Job) bool) []campaign.Result {
	random := rand.New(rand.NewPCG(1, 2))
	seen := map[campaign.Job]bool{}
	var out []campaign.Result
	for _, f := range figures {
		for _, t := range f.Jobs(s) {
			r := inventOne(t, random)
			if !seen[t] && (skip == nil || !skip(t)) {
				out = append(out, r)
			}
			seen[t] = true
		}
	}
	return out
}

// The accuracies of invented runs without noise, and the numbers from which their gradients follow.
var (
	ceilings = map[string]float64{"mnist": 0.985, "fashion-mnist": 0.86, "cifar-10": 0.725, "imdb": 0.80}
	samples  = map[string]float64{"mnist": 60000, "fashion-mnist": 60000, "cifar-10": 50000, "imdb": 25000}
	epochs   = map[string]float64{"mnist": 40, "fashion-mnist": 40, "cifar-10": 40, "imdb": 110}
)

func inventOne(t campaign.Job, random *rand.Rand) campaign.Result {
	mu := map[campaign.Space]float64{campaign.Rate: 15, campaign.All: 45}[t.Space]
	k := math.Max(1, math.Round(mu+math.Sqrt(mu)*random.NormFloat64()))
	factor := map[campaign.Method]float64{campaign.Variant1: 1, campaign.Variant2: 1.08, campaign.Baseline: 1.55, campaign.Single: 1.55}[t.Method]
	if t.Accounting == "best" {
		factor *= 0.8
	}
	if t.Space == campaign.All {
		factor *= 1.2
	}
	sigma := factor * (0.9 + 4/t.Epsilon)
	n, e := samples[t.Dataset], epochs[t.Dataset]
	rate, gamma := 0.1, 0.0213
	if t.Optimizer == "dp-adam" {
		rate = 0.00316
	}
	if t.Space == campaign.All {
		sigma *= 1 + 0.2*random.Float64()
		gamma *= []float64{1, 2}[random.IntN(2)]
	}
	g := map[campaign.Method]float64{
		campaign.Variant1: (k*0.1 + 0.9) * n * e, campaign.Variant2: (k*0.1 + 1) * n * e,
		campaign.Baseline: k * n * e, campaign.Single: n * e,
	}[t.Method]
	if t.Method == campaign.Single {
		k = 0
	}
	own := t.Epsilon
	if t.Method == campaign.Single {
		own = t.Epsilon * 0.45
	}
	rate *= math.Pow(10, 0.5*float64(random.IntN(3)-1))
	return campaign.Result{
		Job: t, Accuracy: math.Min(1, math.Max(0.1, ceilings[t.Dataset]-0.012*sigma+0.004*random.NormFloat64())), Epsilon: own,
		NoiseMultiplier: sigma, LearningRate: 9 * rate, TunedLearningRate: rate, SamplingRate: gamma, ClippingNorm: 1, Steps: 1878,
		Trials: int(k), Seconds: g / 4e6 * (1 + 0.05*random.Float64()), Gradients: g,
		MadeBy: "dptrain v0.1.0 (abcdef0)", Machine: "cpu (avx512), 2 cores", Day: "2026-11-23",
	}
}
