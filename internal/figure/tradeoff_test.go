package figure

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/accountant"
)

func tradeoffPoints() []TradeoffPoint {
	var points []TradeoffPoint
	for k, d := range []string{"poisson", "geometric", "a", "b", "c"} {
		for _, m := range []string{"variant 1", "variant 2"} {
			for i, q := range []float64{0.05, 0.1, 0.2} {
				points = append(points, TradeoffPoint{m, q, d, 15, 0.95, float64(1+i) + float64(k)/10})
			}
		}
		points = append(points, TradeoffPoint{"baseline", 0, d, 15, 0.95, 2.5 - float64(k)/10})
	}
	points[1].NoiseMultiplier = math.Inf(1)
	return points
}

var tradeoffSettings = TradeoffSettings{Candidates: 9, Tried: 0.95, Epsilon: 4, Delta: 1e-5}

func TestTradeoffHasACurveForEachDistribution(t *testing.T) {
	f, err := NewTradeoff(tradeoffSettings, tradeoffPoints())
	if err != nil {
		t.Fatal(err)
	}
	d := f.drawing()
	if len(d.panels) != 2 {
		t.Fatalf("%d panels, want one for each variant", len(d.panels))
	}
	for _, p := range d.panels {
		if len(p.curves) != 6 || !strings.Contains(p.title, "9 candidates") || !strings.Contains(p.title, "95 %") {
			t.Errorf("%s: %d curves, want five and the baseline's", p.title, len(p.curves))
		}
		level := p.curves[0]
		if !slices.Equal(level.y, []float64{2.1, 2.1}) || !slices.Equal(level.x, []float64{0, 0.2}) || level.marker.Shape != nil {
			t.Errorf("%s: baseline %+v, want its least noise", p.title, level)
		}
		looks := map[string]bool{}
		for _, c := range p.curves {
			looks[fmt.Sprintf("%#v %v", c.marker.Shape, c.stroke)] = true
		}
		if len(looks) != 6 {
			t.Errorf("%s: %d looks of six curves", p.title, len(looks))
		}
	}
	last := d.panels[0].curves[5] // the first distribution is on top
	if !slices.Equal(last.x, []float64{0.05, 0.2}) || !slices.Equal(last.y, []float64{1, 3}) {
		t.Errorf("curve %v over %v, want it without what has no noise", last.y, last.x)
	}
	if noise := column(t, f, "noise_multiplier"); len(noise) != 35 || !math.IsInf(noise[1], 1) {
		t.Errorf("noise %v in the table", noise)
	}
}

func TestTradeoffRefuses(t *testing.T) {
	var many, none []TradeoffPoint
	for k := range 13 {
		many = append(many, TradeoffPoint{"variant 1", 0.1, fmt.Sprint(k), 15, 0.95, 1})
	}
	for _, p := range tradeoffPoints() {
		if p.SubsetRate > 0 {
			p.NoiseMultiplier = math.Inf(1)
		}
		none = append(none, p)
	}
	for name, points := range map[string][]TradeoffPoint{"no points": nil, "no noise": none, "thirteen distributions": many} {
		if _, err := NewTradeoff(tradeoffSettings, points); !errors.Is(err, accountant.ErrInvalid) {
			t.Errorf("%s: error %v, want %v", name, err, accountant.ErrInvalid)
		}
	}
}

func TestOneFileIsWritten(t *testing.T) {
	f, err := NewTradeoff(tradeoffSettings, tradeoffPoints())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, file := range []string{"noise.svg", "noise.csv", "deep/noise.pdf", "two.dots.png"} {
		path := filepath.Join(dir, file)
		place, err := ReserveFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files, err := place.Encode(f)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := place.Write(files); err != nil || !slices.Equal(got, []string{path}) {
			t.Errorf("%s: wrote %v, %v", file, got, err)
		}
		if _, err := ReserveFile(path); !errors.Is(err, ErrExists) {
			t.Errorf("%s again: %v, want %v", file, err, ErrExists)
		}
	}
	if got := entries(t, dir); !slices.Equal(got, []string{"deep", "noise.csv", "noise.svg", "two.dots.png"}) {
		t.Errorf("files %v", got)
	}
	for _, file := range []string{"noise", "noise.jpg", ".svg", "new/.png", ""} {
		if _, err := ReserveFile(filepath.Join(dir, "new", file)); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v, want %v", file, err, ErrFormat)
		}
	}
}
