package campaign

import (
	"encoding/csv"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/cpu"
)

// writeTable writes rows as a CSV file and returns its path.
func writeTable(t *testing.T, rows [][]string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "results.csv")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := csv.NewWriter(file).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	return path
}

// A table keeps all digits and letters of results. NaN is nothing.
func TestTablesKeepResults(t *testing.T) {
	number := rapid.OneOf(rapid.Float64(), rapid.Just(math.NaN()))
	text := rapid.StringMatching(`[ -~é\n,"]{0,9}`)
	rapid.Check(t, func(r *rapid.T) {
		one := Result{
			Job: drawJob(r), Accuracy: rapid.Float64Range(0, 1).Draw(r, "accuracy"), Epsilon: number.Draw(r, "epsilon"), NoiseMultiplier: number.Draw(r, "noise"),
			LearningRate: number.Draw(r, "rate"), TunedLearningRate: number.Draw(r, "tuned"), SamplingRate: number.Draw(r, "sampling"),
			ClippingNorm: number.Draw(r, "norm"), Steps: rapid.Int().Draw(r, "steps"), Trials: rapid.Int().Draw(r, "trials"),
			Seconds: number.Draw(r, "seconds"), ProcessorSeconds: number.Draw(r, "processor"), Gradients: number.Draw(r, "gradients"),
			Size: text.Draw(r, "size"), MadeBy: text.Draw(r, "by"), Machine: text.Draw(r, "machine"), Day: text.Draw(r, "day"),
		}
		want := Table([]Result{one})
		read, err := ReadTable(writeTable(t, want))
		if err != nil || len(read) != 1 || read[0].Job != one.Job {
			r.Fatalf("%+v, %v", read, err)
		}
		if got := Table(read); !reflect.DeepEqual(got, want) {
			r.Fatalf("%q, want %q", got, want)
		}
		if strings.Contains(strings.Join(want[1], " "), "NaN") {
			r.Fatalf("%q", want[1])
		}
	})
}

func TestOtherTables(t *testing.T) {
	whole := func() [][]string {
		return Table([]Result{{Job: Job{Cell{"mnist", "dp-sgd", Rate, Variant1, "paper", 1}, 1}}})
	}
	two := []Result{{Job: Job{Cell{"mnist", "dp-sgd", Rate, Variant2, "paper", 1}, 1}}, {Job: Job{Cell{"mnist", "dp-sgd", Rate, Variant1, "paper", 1}, 1}}}
	if rows := Table(two); rows[1][3] != "v1" {
		t.Errorf("%q comes first", rows[1])
	}
	for want, change := range map[string]func(rows [][]string) [][]string{
		"columns are others":     func(rows [][]string) [][]string { rows[0][3] = "way"; return rows },
		"line 2, repetition":     func(rows [][]string) [][]string { rows[1][6] = "one"; return rows },
		"accuracy 1.5; want":     func(rows [][]string) [][]string { rows[1][12] = "1.5"; return rows },
		"want a finite number":   func(rows [][]string) [][]string { rows[1][20] = "Inf"; return rows },
		"line 2, own_epsilon":    func(rows [][]string) [][]string { rows[1][11] = "much"; return rows },
		"is no run of the paper": func(rows [][]string) [][]string { rows[1][0] = "minst"; return rows },
		"wrong number of fields": func(rows [][]string) [][]string { rows[1] = rows[1][:9]; return rows },
		"are others; want a":     func(rows [][]string) [][]string { return nil },
	} {
		if _, err := ReadTable(writeTable(t, change(whole()))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Runs of another campaign's table count as done: only the missing one is trained, by the other campaign's baseline.
func TestRunsThatAreThere(t *testing.T) {
	jobs, names := glyphs(1, Single, Variant1, Baseline)
	d := Description{Scale: small, Jobs: names}
	first := open(t, t.TempDir(), d)
	var some []Job
	for _, j := range jobs {
		if j.Method != Single {
			some = append(some, j)
		}
	}
	first.Description.Jobs = nil
	for _, j := range some {
		first.Description.Jobs = append(first.Description.Jobs, j.Name())
	}
	if err := carry(t, t.Context(), first, cpu.New(cpu.Options{}), &quiet{}); err != nil {
		t.Fatal(err)
	}
	var had []Result
	for _, r := range finishedAll(t, first) {
		had = append(had, r)
	}
	d.Have = had
	s := open(t, t.TempDir(), d)
	if err := carry(t, t.Context(), s, cpu.New(cpu.Options{}), &quiet{}); err != nil {
		t.Fatal(err)
	}
	scan, err := s.Scan(jobs)
	if err != nil || releases(t, s) != 1 || len(scan.Finished) != len(jobs) {
		t.Errorf("%d releases, %d results, %v", releases(t, s), len(scan.Finished), err)
	}
	all := slices.Collect(maps.Values(scan.Finished))
	for j, r := range scan.Finished {
		if baseline := scan.Finished[j.Of(Baseline)]; j.Method == Single && r.NoiseMultiplier != baseline.NoiseMultiplier {
			t.Errorf("%+v beside %+v", r, baseline)
		}
	}

	// All results may come from another campaign. The folder keeps them, however it is opened.
	dir := t.TempDir()
	d.Have = all
	if err := open(t, dir, d).Close(); err != nil {
		t.Fatal(err)
	}
	d.Have = nil
	planned, errPlanned := Planned(dir, d)
	looked, errLooked := Look(dir)
	if errPlanned != nil || errLooked != nil {
		t.Fatal(errPlanned, errLooked)
	}
	for _, s := range []*Store{planned, looked, open(t, dir, d)} {
		if scan, err := s.Scan(jobs); err != nil || len(scan.Finished) != len(jobs) {
			t.Errorf("%d results, %v", len(scan.Finished), err)
		}
	}

	change := func(f func(r *Result)) []Result {
		changed := slices.Clone(all)
		f(&changed[slices.IndexFunc(all, func(r Result) bool { return r.Method == Single })])
		return changed
	}
	for want, have := range map[string][]Result{
		"has the run " + all[0].Name() + " twice": append(slices.Clone(all), all[0]),
		`of size "x", and this campaign's`:        change(func(r *Result) { r.Size = "x" }),
		"has no day":                              change(func(r *Result) { r.Day = "" }),
		"has other hyperparameters":               change(func(r *Result) { r.NoiseMultiplier++ }),
		"and not its baseline":                    slices.DeleteFunc(slices.Clone(all), func(r Result) bool { return r.Method == Baseline }),
	} {
		d.Have = have
		dir := t.TempDir()
		s, err := Open(dir, d)
		if err == nil {
			_, err = s.Scan(jobs)
			s.Close()
		} else if _, made := os.Lstat(filepath.Join(dir, descriptionName)); made == nil {
			t.Errorf("%q: the campaign is written", want)
		}
		if !errors.Is(err, ErrOther) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
