package tuner

import "github.com/dptrain/dptrain/accountant"

// ofUnits returns an event for a unit of RowsPerUnit samples.
func (s Settings) ofUnits(e accountant.Event) accountant.Event {
	if s.RowsPerUnit == 0 || s.RowsPerUnit == 1 {
		return e
	}
	return accountant.GroupOf{Event: e, Size: s.RowsPerUnit}
}
