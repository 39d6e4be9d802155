package settings

import "testing"

// The column of units may be ignored by name, as "data describe" and "data schema" do with ids.
func TestUnitColumn(t *testing.T) {
	d := Data{Train: "a.csv", Label: "y", Unit: "patient", RowsPerUnit: 2, Ignore: []string{"patient"}}
	if err := d.validateUnit(); err != nil {
		t.Error(err)
	}
}
