package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/experiment/features"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/datasets/table"
)

// dataRows returns the rows of a plan that describe its data.
func dataRows(e settings.Experiment, s experiment.Samples) [][2]string {
	if s.Schema == nil {
		rows := [][2]string{{"data", fmt.Sprintf("%s, %s training samples; %s test samples, which are public", e.Dataset, release.Grouped(s.Train), release.Grouped(s.Test))}}
		if s.Features != "" {
			rows = append(rows, [2]string{"features", fmt.Sprintf("%d for each image, of %s with its public weights", features.Size, s.Features)})
		}
		return rows
	}
	if e.Data.Test == "" {
		return [][2]string{
			{"data", fmt.Sprintf("%s, %s rows; no public rows", filepath.Base(e.Data.Train), release.Grouped(s.Train))},
			{"columns", schemaText(s.Schema)},
		}
	}
	return [][2]string{
		{"data", fmt.Sprintf("%s, %s rows; %s, %s rows, which are public", filepath.Base(e.Data.Train), release.Grouped(s.Train), filepath.Base(e.Data.Test), release.Grouped(s.Test))},
		{"columns", schemaText(s.Schema)},
	}
}

func schemaText(s *table.Schema) string {
	const most = 5
	columns := fmt.Sprintf("%d", len(s.Columns))
	text := fmt.Sprintf("%s, which make samples of shape %v; ", columns, s.Shape)
	classes := slices.Clone(s.Label.Classes)
	if len(classes) > most {
		classes = append(classes[:most], "…")
	}
	if s.Label.Task == table.Regression {
		return text + fmt.Sprintf("regression on %s", s.Label.Name)
	}
	return text + fmt.Sprintf("%s in %d classes: %s", s.Label.Name, len(s.Label.Classes), strings.Join(classes, ", "))
}
