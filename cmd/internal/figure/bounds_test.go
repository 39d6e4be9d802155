package figure

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/dptrain/dptrain/accountant"
)

// column returns the numbers of one column of a figure's table.
func column(t *testing.T, f Figure, name string) []float64 {
	t.Helper()
	rows := f.Table()
	for i, header := range rows[0] {
		if header != name {
			continue
		}
		var values []float64
		for _, row := range rows[1:] {
			v, err := strconv.ParseFloat(row[i], 64)
			if err != nil {
				t.Fatalf("column %s: %v", name, err)
			}
			values = append(values, v)
		}
		return values
	}
	t.Fatalf("no column %s in %v", name, rows[0])
	return nil
}

// safe reports whether got is an upper bound of want, up to rounding, and close to it.
func safe(got, want float64) bool { return got >= want*(1-1e-9) && got <= want*(1+1e-6) }

func TestBoundsAreThoseOfTheReference(t *testing.T) {
	text, err := os.ReadFile("testdata/compare_dp_bounds.json")
	if err != nil {
		t.Fatal(err)
	}
	var reference struct {
		Base   float64 `json:"base_epsilon"`
		Series []struct {
			Mean          float64   `json:"mu"`
			Rates         []float64 `json:"q"`
			Baseline      float64   `json:"baseline_epsilon"`
			BaselineTight float64   `json:"baseline_epsilon_tight"`
			Variant1      []float64 `json:"variant1_epsilon"`
			Variant1Tight []float64 `json:"variant1_epsilon_tight"`
			Variant2      []float64 `json:"variant2_epsilon"`
			Variant2Tight []float64 `json:"variant2_epsilon_tight"`
		} `json:"series"`
	}
	if err := json.Unmarshal(text, &reference); err != nil {
		t.Fatal(err)
	}
	s := PaperBounds()
	s.Modes = []accountant.Mode{accountant.Paper, accountant.Tight}
	s.MeanRepetitions = nil
	for _, series := range reference.Series {
		s.MeanRepetitions = append(s.MeanRepetitions, series.Mean)
	}
	b, err := ComputeBounds(context.Background(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]float64{}
	for _, series := range reference.Series {
		for i := range series.Rates {
			for name, value := range map[string]float64{
				"mu": series.Mean, "q": series.Rates[i],
				"base_paper": reference.Base, "base_tight": reference.Base,
				"baseline_paper": series.Baseline, "baseline_tight": series.BaselineTight,
				"variant1_paper": series.Variant1[i], "variant1_tight": series.Variant1Tight[i],
				"variant2_paper": series.Variant2[i], "variant2_tight": series.Variant2Tight[i],
			} {
				want[name] = append(want[name], value)
			}
		}
	}
	for name := range want {
		got := column(t, b, name)
		if len(got) != len(want[name]) || len(got) != 3*99 {
			t.Fatalf("%s: %d rows, want %d", name, len(got), len(want[name]))
		}
		for i := range got {
			if !safe(got[i], want[name][i]) {
				t.Errorf("%s at mu %v and q %v: %.12g, want %.12g", name, want["mu"][i], want["q"][i], got[i], want[name][i])
			}
		}
	}
}

// few returns settings with few enough points for mode best.
func few() BoundsSettings {
	s := PaperBounds()
	s.SubsetRates = []float64{0.01, 0.1, 0.9}
	return s
}

var fewOnce = sync.OnceValues(func() (Bounds, error) { return ComputeBounds(context.Background(), few(), nil) })

func fewBounds(t *testing.T) Bounds {
	t.Helper()
	b, err := fewOnce()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSharperModesNeverCostMore(t *testing.T) {
	b := fewBounds(t)
	for _, method := range methods {
		paper, tight, best := column(t, b, method.column+"_paper"), column(t, b, method.column+"_tight"), column(t, b, method.column+"_best")
		for i := range paper {
			if !(0 < best[i] && best[i] <= tight[i] && tight[i] <= paper[i]) {
				t.Errorf("%s, row %d: paper %v, tight %v, best %v", method.name, i, paper[i], tight[i], best[i])
			}
		}
	}
}

func TestBoundsTellProgress(t *testing.T) {
	s := few()
	s.Modes = s.Modes[:1]
	var told [][2]int
	_, err := ComputeBounds(context.Background(), s, func(done, total int) { told = append(told, [2]int{done, total}) })
	if err != nil {
		t.Fatal(err)
	}
	const points = 2 * (2*3 + 2) // panels, of two curves over three rates and two level ones
	if len(told) != points {
		t.Errorf("told %d times, want %d", len(told), points)
	}
	for i, p := range told {
		if p != [2]int{i + 1, points} {
			t.Errorf("call %d: %v", i, p)
		}
	}
}

func TestBoundsCanBeInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := ComputeBounds(ctx, few(), func(done, _ int) { t.Errorf("point %d was computed", done) })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

func TestBoundsRefuseNonsense(t *testing.T) {
	for name, change := range map[string]func(*BoundsSettings){
		"no panel":        func(s *BoundsSettings) { s.MeanRepetitions = nil },
		"no rate":         func(s *BoundsSettings) { s.SubsetRates = nil },
		"no mode":         func(s *BoundsSettings) { s.Modes = nil },
		"four modes":      func(s *BoundsSettings) { s.Modes = append(s.Modes, accountant.Paper) },
		"unknown mode":    func(s *BoundsSettings) { s.Modes[0] = "papre" },
		"negative mean":   func(s *BoundsSettings) { s.MeanRepetitions[0] = -1 },
		"rate above 1":    func(s *BoundsSettings) { s.SubsetRates[0] = 2 },
		"gamma above 1":   func(s *BoundsSettings) { s.SamplingRate = 2 },
		"negative steps":  func(s *BoundsSettings) { s.Steps = -1 },
		"no noise":        func(s *BoundsSettings) { s.NoiseMultiplier = 0 },
		"delta 0":         func(s *BoundsSettings) { s.Delta = 0 },
		"delta above 1":   func(s *BoundsSettings) { s.Delta = 2 },
		"delta not given": func(s *BoundsSettings) { s.Delta = -1 },
	} {
		s := few()
		change(&s)
		if _, err := ComputeBounds(context.Background(), s, nil); !errors.Is(err, accountant.ErrInvalid) {
			t.Errorf("%s: error %v, want %v", name, err, accountant.ErrInvalid)
		}
	}
}
