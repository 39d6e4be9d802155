package train

import "github.com/dptrain/dptrain/accountant"

// Event returns what one run with these settings costs. It depends on SamplingRate, NoiseMultiplier and Steps alone, and
// nothing is checked: accountants refuse an event that can't be, [New] refuses settings that can't be used.
func (p Privacy) Event() accountant.Event { return Mechanism{privacy: p}.Event() }
