package paper

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func (i Interval) holds(v float64) bool { return i.Missing == "" && i.Low <= v && v <= i.High }

func near(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance }

// Student's t at 97.5 percent, from the tables of any textbook.
func TestQuantiles(t *testing.T) {
	for degrees, want := range map[float64]float64{1: 12.706, 2: 4.303, 4: 2.776, 9: 2.262, 18: 2.101, 30: 2.042, 120: 1.980} {
		if got := quantile(degrees); !near(got, want, 5e-4) {
			t.Errorf("%v degrees: %v, want %v", degrees, got, want)
		}
	}
}

// By hand: the mean of 2, 4, 4, 6 is 4, its variance 8/3, its standard error sqrt(8/3/4) = 0.816497.
func TestMoments(t *testing.T) {
	s := sample{2, 4, 4, 6}
	if s.mean() != 4 || !near(s.variance(), 8./3, 1e-12) || !near(s.standardError(), 0.816497, 1e-6) {
		t.Errorf("%v, %v, %v", s.mean(), s.variance(), s.standardError())
	}
	if one := (sample{7}); one.mean() != 7 || !math.IsNaN(one.standardError()) {
		t.Errorf("one value: %v, %v", one.mean(), one.standardError())
	}
	if none := (sample{}); !math.IsNaN(none.mean()) || !math.IsNaN(none.standardError()) {
		t.Errorf("none: %v, %v", none.mean(), none.standardError())
	}
	if same := (sample{0.1, 0.1, 0.1}); same.variance() != 0 {
		t.Errorf("equal values have variance %v", same.variance())
	}
}

// Student's sleep data, as in the documentation of R's t.test: t.test(extra ~ group, data = sleep) prints t =
// -1.8608, df = 17.776, and the interval -3.3654832 to 0.2054832.
func TestDifferenceIsThatOfR(t *testing.T) {
	a := sample{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	b := sample{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
	d, i, _ := average([]pair{{a, b}})
	if !near(d, -1.58, 1e-12) || !near(i.Low, -3.3654832, 1e-6) || !near(i.High, 0.2054832, 1e-6) || i.Missing != "" {
		t.Errorf("%v in %+v", d, i)
	}
	if df := satterthwaite(a.variance()/10, 10, b.variance()/10, 10); !near(df, 17.776, 5e-4) {
		t.Errorf("%v degrees of freedom", df)
	}
}

// By hand. a is 8, 10, 12 and b 1.6, 2, 2.4, five times smaller, so va = 4/3, vb = 0.16/3 and r² vb = va: the degrees
// of freedom are 2 (3-1) = 4, and t = 2.776445. The ends solve r² (4 - 0.4111278) - 40 r + (100 - 10.2781957) = 0.
func TestRatioIsThatByHand(t *testing.T) {
	r, i := ratio(sample{8, 10, 12}, sample{1.6, 2, 2.4})
	if !near(r, 5, 1e-12) || !near(i.Low, 3.11189, 1e-4) || !near(i.High, 8.03362, 1e-4) {
		t.Errorf("%v in %+v", r, i)
	}
}

func TestMissingIntervals(t *testing.T) {
	for name, c := range map[string]struct {
		a, b               sample
		difference, ratios string
	}{
		"one value":      {sample{1}, sample{1, 2}, oneRepetition, oneRepetition},
		"all equal":      {sample{3, 3}, sample{1, 1}, allEqual, allEqual},
		"around 0":       {sample{1, 2}, sample{-1, 1.1}, "", unbounded},
		"one side equal": {sample{3, 3}, sample{1, 1.1}, "", ""},
		"always 0":       {sample{0, 0}, sample{1, 2}, "", allEqual},
	} {
		if _, i, _ := average([]pair{{c.a, c.b}}); i.Missing != c.difference {
			t.Errorf("%s: the difference's interval: %+v", name, i)
		}
		if _, i := ratio(c.a, c.b); i.Missing != c.ratios {
			t.Errorf("%s: the ratio's interval: %+v", name, i)
		}
	}
}

// The definition of Fieller's interval: its ends are the ratios that a t test barely doesn't reject, and the estimate
// is between them.
func TestRatiosEndWhereTheTestDoes(t *testing.T) {
	values := rapid.SliceOfN(rapid.Float64Range(0.1, 100), 2, 12)
	rapid.Check(t, func(t *rapid.T) {
		a, b := sample(values.Draw(t, "a")), sample(values.Draw(t, "b"))
		r, i := ratio(a, b)
		if i.Missing != "" {
			return
		}
		if !(i.Low <= r && r <= i.High) {
			t.Fatalf("%v isn't in %+v", r, i)
		}
		va, vb := a.variance()/float64(len(a)), b.variance()/float64(len(b))
		q := quantile(satterthwaite(va, len(a), r*r*vb, len(b)))
		for _, end := range []float64{i.Low, i.High} {
			if end == 0 { // cut off: a ratio isn't negative
				continue
			}
			statistic := math.Abs(a.mean()-end*b.mean()) / math.Sqrt(va+end*end*vb)
			if !near(statistic/q, 1, 1e-5) {
				t.Fatalf("at %v the statistic is %v, want %v", end, statistic, q)
			}
		}
	})
}

// By hand: the means are 2 and 5, both variances of means 1, so there are (1+1)²/(1+1) = 2 degrees of freedom and the
// statistic is -3/sqrt(2). With 2 degrees Student's distribution function is 1/2 + t/(2 sqrt(2 + t²)).
func TestTailIsThatByHand(t *testing.T) {
	a, b := sample{1, 3}, sample{4, 6}
	if got := tail(a, b, 1, 1); !near(got, 0.0839748, 1e-6) {
		t.Errorf("%v", got)
	}
	if got := tail(b, a, 1, 1); !near(got, 1-0.0839748, 1e-6) {
		t.Errorf("the other way round: %v", got)
	}
}

// By hand: differences of means are -3 and 9, their mean is 3, and all four variances of means are 1. So there are
// 4²/4 = 4 degrees of freedom, t = 2.776445, and the interval is 3 ± 2.776445 sqrt(4)/2. The statistic is 6/2 = 3, at
// which Student's distribution function with 4 degrees is 1/2 + 3/8 (3/sqrt(3.25)) (1 - 9/(12·3.25)).
func TestAverageIsThatByHand(t *testing.T) {
	d, i, p := average([]pair{{{1, 3}, {4, 6}}, {{10, 12}, {1, 3}}})
	if d != 3 || !near(i.Low, 0.223555, 1e-6) || !near(i.High, 5.776445, 1e-6) || !near(p, 0.980029, 1e-6) {
		t.Errorf("%v in %+v, p = %v", d, i, p)
	}
	for name, c := range map[string]struct {
		pairs []pair
		want  string
	}{
		"none":      {nil, oneRepetition},
		"one value": {[]pair{{{1, 3}, {4, 6}}, {{1}, {2, 3}}}, oneRepetition},
		"all equal": {[]pair{{{1, 1}, {4, 4}}}, allEqual},
	} {
		if _, i, _ := average(c.pairs); i.Missing != c.want {
			t.Errorf("%s: %+v", name, i)
		}
	}
}

// Intervals end where the tails are 2.5 percent, so that verdicts and p values agree.
func TestTailsAgreeWithIntervals(t *testing.T) {
	values := rapid.SliceOfN(rapid.Float64Range(50, 100), 2, 12)
	rapid.Check(t, func(t *rapid.T) {
		a, b := sample(values.Draw(t, "a")), sample(values.Draw(t, "b"))
		if d, i, p := average([]pair{{a, b}}); i.Missing == "" {
			if math.Min(math.Abs(i.Low), math.Abs(i.High)) > 1e-6 && (i.High < 0 != (p < 0.025) || i.Low > 0 != (p > 0.975)) {
				t.Fatalf("%v in %+v, and p = %v", d, i, p)
			}
		}
		if r, i := ratio(a, b); i.Missing == "" {
			if p := tail(a, b, i.High, r); !near(p, 0.025, 1e-4) {
				t.Fatalf("p = %v at the upper end of %+v", p, i)
			}
			if p := tail(a, b, i.Low, r); i.Low > 0 && !near(p, 0.975, 1e-4) {
				t.Fatalf("p = %v at the lower end of %+v", p, i)
			}
		}
	})
}

// Intervals hold the truth in 95 percent of samples, also where variances differ. The draws are the same each time.
func TestIntervalsHoldTheTruth(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	draw := func(n int, mean, deviation float64) sample {
		s := make(sample, n)
		for i := range s {
			s[i] = mean + deviation*random.NormFloat64()
		}
		return s
	}
	const times = 4000
	differences, ratios, averages := 0, 0, 0
	for range times {
		a, b := draw(10, 60, 15), draw(7, 10, 1)
		if _, i, _ := average([]pair{{a, b}}); i.holds(50) {
			differences++
		}
		if _, i := ratio(a, b); i.holds(6) {
			ratios++
		}
		if _, i, _ := average([]pair{{a, b}, {draw(3, 8, 2), draw(3, 6, 1)}, {draw(5, 1, 4), draw(2, 3, 1)}}); i.holds(50. / 3) {
			averages++
		}
	}
	for name, n := range map[string]int{"difference": differences, "ratio": ratios, "average": averages} {
		if share := float64(n) / times; !near(share, 0.95, 0.012) {
			t.Errorf("%s: %.4f of the intervals hold the truth", name, share)
		}
	}
}
