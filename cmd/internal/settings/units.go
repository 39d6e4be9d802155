package settings

import (
	"errors"
	"fmt"
)

// MaxRowsPerUnit is the largest data.rows_per_unit: accountant.MaxRows.
const MaxRowsPerUnit = 128

// validateUnit checks the column of units, each of which is protected with all of its rows.
func (d Data) validateUnit() error {
	switch {
	case d.Unit == "" && d.RowsPerUnit == 0:
		return nil
	case d.Unit == "":
		return errors.New("data.rows_per_unit: no column says whose the rows are; name it by --unit COLUMN")
	case d.RowsPerUnit == 0:
		return errors.New("data.rows_per_unit: say how many rows of each unit are kept at most, by --rows-per-unit M; M is public, so don't look for it in the training file, and fewer rows need less noise")
	case d.RowsPerUnit < 0 || d.RowsPerUnit > MaxRowsPerUnit:
		return fmt.Errorf("data.rows_per_unit: must be a whole number from 1 to %d, got %d", MaxRowsPerUnit, d.RowsPerUnit)
	}
	return nil
}
