package settings

import (
	"strings"
	"testing"
)

// The column of units may be ignored by name, as "data describe" and "data schema" do with ids. It can't be learned
// from.
func TestUnitColumn(t *testing.T) {
	d := Data{Train: "a.csv", Label: "y", Unit: "patient", RowsPerUnit: 2, Ignore: []string{"patient"}}
	if err := d.validateUnit(); err != nil {
		t.Error(err)
	}
	d.Categories = map[string][]string{"patient": {"a", "b"}}
	if err := d.validateUnit(); err == nil || !strings.Contains(err.Error(), "patient") {
		t.Errorf("categories of units: %v", err)
	}
}
