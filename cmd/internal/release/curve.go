package release

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/dptrain/dptrain/cmd/internal/figure"
	"github.com/dptrain/dptrain/train"
)

// CurveName is the name of the files of a learning curve, without their extensions.
const CurveName = "curve"

// Curve is the learning curve of the run that made the released parameters. The guarantee covers it: see
// [train.Spacing].
type Curve struct {
	Points []train.Point
	// Epsilons are the costs of the run's steps up to each point, at the delta of the guarantee; nil if they weren't
	// computed.
	Epsilons []float64
}

// Figure returns the picture of a curve of scores.
func (c *Curve) Figure(metric train.Metric) figure.Figure {
	return figure.Learning{Metric: string(metric), Points: c.Points, Epsilons: c.Epsilons}
}

// files returns the files of a curve: its numbers and its pictures.
func (c *Curve) files(metric train.Metric) (map[string][]byte, error) {
	encoded, err := figure.Encode(c.Figure(metric), "csv", "png", "svg")
	if err != nil {
		return nil, fmt.Errorf("release the learning curve: %w", err)
	}
	files := map[string][]byte{}
	for _, e := range encoded {
		files[CurveName+"."+e.Extension] = e.Content
	}
	return files, nil
}

// ParseCurve decodes a curve's CSV file.
func ParseCurve(text []byte) (*Curve, error) {
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll() // all rows have the first row's number of cells
	if err != nil {
		return nil, err
	}
	if len(rows) < 2 || !slices.Equal(rows[0], []string{"step", "score"}) && !slices.Equal(rows[0], []string{"step", "score", "epsilon"}) {
		return nil, errors.New("want rows of step, score and perhaps epsilon, below these names")
	}
	c := &Curve{}
	for i, row := range rows[1:] {
		step, err := strconv.Atoi(row[0])
		if err != nil || step < 0 || step > math.MaxInt32 || i > 0 && step <= c.Points[i-1].Step {
			return nil, fmt.Errorf("point %d: want steps in ascending order, got %q", i+1, row[0])
		}
		var values [2]float64
		for k, cell := range row[1:] {
			if values[k], err = strconv.ParseFloat(cell, 64); err != nil || math.IsNaN(values[k]) || math.IsInf(values[k], 0) {
				return nil, fmt.Errorf("point %d: want a finite %s, got %q", i+1, rows[0][k+1], cell)
			}
		}
		c.Points = append(c.Points, train.Point{Step: step, Score: values[0]})
		if len(row) > 2 {
			c.Epsilons = append(c.Epsilons, values[1])
		}
	}
	return c, nil
}
