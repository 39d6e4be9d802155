package release

import "fmt"

// neighbours describes the difference of neighbouring data sets.
func (p Privacy) neighbours() string {
	if p.Unit == "" {
		return "add or remove one sample"
	}
	return "add or remove one unit, with all of its rows"
}

// Protects returns the unit that the guarantee protects, as part of a sentence: "" for a sample.
func (p Privacy) Protects() string {
	if p.Unit == "" {
		return ""
	}
	if p.RowsPerUnit == 1 {
		return fmt.Sprintf("for each unit (column %s), of which one row is kept", p.Unit)
	}
	return fmt.Sprintf("for each unit (column %s): all of its at most %d rows together", p.Unit, p.RowsPerUnit)
}

// Neighbour returns the excess of one of two neighbouring data sets, as part of a sentence.
func (p Privacy) Neighbour() string {
	switch {
	case p.Unit == "":
		return "training sample"
	case p.RowsPerUnit == 1:
		return fmt.Sprintf("unit (value of column %s) with its row", p.Unit)
	}
	return fmt.Sprintf("unit (value of column %s) with its at most %d rows", p.Unit, p.RowsPerUnit)
}

// protected names the unit that the guarantee protects.
func (p Privacy) protected() string {
	if p.Unit == "" {
		return "sample"
	}
	return "unit"
}
