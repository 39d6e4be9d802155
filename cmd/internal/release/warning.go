package release

import (
	"fmt"
	"math"
)

// largestEpsilon is the largest epsilon that is called reasonable (Ponomareva et al., "How to DP-fy ML", 2023, section
// 5.2: tier 2 is epsilon up to 10).
const largestEpsilon = 10

// Warned returns p with Warnings set: a warning if the guarantee is void, and its weaknesses. Show them wherever the
// guarantee is shown.
func (p Privacy) Warned() Privacy {
	p.Warnings = nil
	if p.Insecure {
		p.Warnings = append(p.Warnings, "all random draws come from an insecure seed: the privacy guarantee is void")
	}
	p.Warnings = append(p.Warnings, p.Weaknesses()...)
	return p
}

// Weaknesses returns the reasons why the guarantee, although it holds, protects little.
func (p Privacy) Weaknesses() []string {
	var out []string
	if p.Epsilon > largestEpsilon {
		out = append(out, fmt.Sprintf("epsilon %s is above %d and protects little: one %s may make a conclusion up to %s times as likely",
			Up(p.Epsilon), largestEpsilon, p.protected(), factor(p.Epsilon)))
	}
	if p.Delta*float64(p.Samples) >= 1 {
		out = append(out, fmt.Sprintf("delta %v is not below 1/%d, one over the number of samples: publishing a random sample as it is would meet it",
			p.Delta, p.Samples))
	}
	return out
}

// factor prints e^epsilon, rounded up, and as a power of ten from a million on.
func factor(epsilon float64) string {
	if exponent := epsilon / math.Ln10; exponent >= 6 {
		return fmt.Sprintf("10^%.0f", math.Ceil(exponent))
	}
	return fmt.Sprintf("%.0f", math.Ceil(math.Exp(epsilon)))
}
