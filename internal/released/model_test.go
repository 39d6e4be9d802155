package released

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A description of version 1 has no temperature, which means 1. One of version 2 may have one above 0.
func TestReadTakesVersions1And2(t *testing.T) {
	for _, c := range []struct {
		fields string
		want   float64
		refuse string
	}{
		{`"version": 1`, 1, ""},
		{`"version": 2`, 1, ""},
		{`"version": 2, "temperature": null`, 1, ""},
		{`"version": 2, "temperature": 0.25`, 0.25, ""},
		{`"version": 2, "temperature": 0`, 0, "temperature 0, want a number above 0"},
		{`"version": 2, "temperature": -3`, 0, "temperature -3, want a number above 0"},
		{`"version": 2, "temperature": 1e999`, 0, "cannot unmarshal number"},
		{`"version": 1, "temperature": 2`, 0, "version 1 has no temperature"},
		{`"version": 0`, 0, "version 0, and this dptrain reads versions 1 to 2"},
		{`"version": 3`, 0, "version 3, and this dptrain reads versions 1 to 2"},
	} {
		path := filepath.Join(t.TempDir(), modelFile)
		if err := os.WriteFile(path, fmt.Appendf(nil, `{%s, "outputs": 2, "task": "classification"}`, c.fields), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := readModel(path)
		switch {
		case c.refuse == "" && (err != nil || m.Temperature != c.want):
			t.Errorf("%s: temperature %v, %v; want %v", c.fields, m.Temperature, err, c.want)
		case c.refuse != "" && (!errors.Is(err, ErrNoModel) || !strings.Contains(err.Error(), c.refuse)):
			t.Errorf("%s: %v, want %q", c.fields, err, c.refuse)
		}
	}
}
