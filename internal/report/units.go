package report

import "fmt"

// neighbours says by what neighbouring data sets differ.
func (p Privacy) neighbours() string {
	if p.Unit == "" {
		return "add or remove one sample"
	}
	return "add or remove one unit, with all of its rows"
}

// Protects returns whose privacy the guarantee is, as part of a sentence: "" for a sample's.
func (p Privacy) Protects() string {
	if p.Unit == "" {
		return ""
	}
	if p.RowsPerUnit == 1 {
		return fmt.Sprintf("for each unit (column %s), of which one row is kept", p.Unit)
	}
	return fmt.Sprintf("for each unit (column %s): all of its at most %d rows together", p.Unit, p.RowsPerUnit)
}
