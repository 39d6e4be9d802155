package remote

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/train"
)

// A job's encoding has neither its key nor the worker's own settings. Otherwise it comes back as it was.
func TestJobEncoding(t *testing.T) {
	s := settingsOf(t, true)
	s.InsecureSeed = new(uint64(math.MaxUint64))
	s.Experiment.Performance = settings.Performance{Engine: settings.EngineCUDA, Workers: 17, Devices: []int{3}}
	key := train.NewKey()
	j := Job{Run: "0af3", Name: "mnist_v1_best_eps1_01", Settings: s, Trials: []int{4, 0}, Key: key}
	text, err := j.Marshal()
	if err != nil || bytes.Contains(text, key[:]) || bytes.Contains(text, []byte("17")) || bytes.Contains(text, []byte("cuda")) {
		t.Fatalf("%s, %v", text, err)
	}
	got, err := UnmarshalJob(text)
	if err != nil {
		t.Fatal(err)
	}
	want := j
	want.Key = train.Key{}
	want.Settings.Experiment.Performance = settings.Performance{Engine: settings.EngineAuto, Devices: []int{}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// UnmarshalJob refuses whatever Marshal doesn't write.
func TestJobsThatAreRefused(t *testing.T) {
	text, err := newJob(t, "a", 1, settingsOf(t, false)).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	replaced := func(old, by string) string {
		out := strings.Replace(string(text), old, by, 1)
		if out == string(text) {
			t.Fatalf("no %s in %s", old, text)
		}
		return out
	}
	for name, text := range map[string]string{
		"nothing":            "",
		"null":               "null",
		"an unknown field":   replaced(`"run":`, `"key":"x","run":`),
		"a second run":       replaced(`"run":"a"`, `"run":"b","run":"a"`),
		"more behind it":     string(text) + "{}",
		"a space":            string(text) + " ",
		"no run":             replaced(`"run":"a"`, `"run":""`),
		"a path":             replaced(`"run":"a"`, `"run":"../a"`),
		"a subject":          replaced(`"run":"a"`, `"run":"a.*"`),
		"a terminal":         replaced(`"name":"`, `"name":"\u001b`),
		"a negative trial":   replaced(`"settings"`, `"trials":[-1],"settings"`),
		"a trial twice":      replaced(`"settings"`, `"trials":[1,1],"settings"`),
		"an empty list":      replaced(`"settings"`, `"trials":[],"settings"`),
		"an unknown setting": replaced(`"settings":"`, `"settings":"x: 1\n`),
		"a path of files":    replaced(`dataset: glyphs`, `dataset: glyphs\ndata:\n  train: /etc/passwd`),
		"other performance":  replaced(`engine: auto`, `engine: cpu`),
		"not finite":         replaced(`delta: `, `delta: .nan # `),
		"too large":          replaced(`"name":"`, `"name":"`+strings.Repeat("x", maxJob)),
	} {
		if j, err := UnmarshalJob([]byte(text)); err == nil || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%s: %+v, %v", name, j, err)
		}
	}
}

// Jobs train side by side if their data, model, optimizer and method are equal, whatever else differs.
func TestGroup(t *testing.T) {
	first := newJob(t, "a", 1, settingsOf(t, true))
	for _, same := range []Job{
		newJob(t, "b", 2, settingsOf(t, true)), newJob(t, "b", 2, settingsOf(t, true, "privacy.epsilon=2")), newJob(t, "b", 2, settingsOf(t, true, "performance.workers=3")),
		newJob(t, "b", 2, settingsOf(t, true, "privacy.delta=1e-6")),
	} {
		if same.Group() != first.Group() {
			t.Errorf("%+v is in another group", same.Settings)
		}
	}
	seen := map[string]bool{first.Group(): true}
	for _, other := range []Job{
		newJob(t, "a", 1, settingsOf(t, false)), newJob(t, "a", 1, settingsOf(t, true, "model=mlp:8")), newJob(t, "a", 1, settingsOf(t, true, "privacy.variant=2")),
		newJob(t, "a", 1, settingsOf(t, true, "training.optimizer=dp-adam")), newJob(t, "a", 1, settingsOf(t, true, "tuning.tune=[rate, batch]", "tuning.batch_sizes=[32]")),
		newJob(t, "a", 1, settingsOf(t, true, "activation.scale=1")),
	} {
		group := other.Group()
		if seen[group] || !strings.HasPrefix(group, "glyphs-") || strings.Trim(group, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			t.Errorf("group %q of %+v", group, other.Settings)
		}
		seen[group] = true
	}
	// Trials of one run train side by side, and trials of two runs don't: each run has its own key.
	trials := func(run string, numbers ...int) Job {
		j := newJob(t, run, 1, settingsOf(t, true))
		j.Trials = numbers
		return j
	}
	if a := trials("a", 0).Group(); a != trials("a", 1, 2).Group() || a == trials("b", 0).Group() || seen[a] {
		t.Errorf("trials are in group %q", a)
	}
	own := first
	own.Settings.Experiment.Data.Label = "another column"
	if own.Group() == first.Group() {
		t.Error("other columns of own data are in the same group")
	}
}

// model returns the result of a run that gave a model, which Check takes.
func model() Result {
	return Result{
		Run: "0af3", Machine: "a machine", Identity: "ff", Score: release.Score{Metric: "accuracy", Value: 0.5},
		Released: map[string][]byte{"model.safetensors": {0, 1, 255}, "a/b.json": []byte("{}")}, Private: []byte(`{"trials": [{"steps": 3, "seconds": 4}], "seconds": 5}`),
		Trials: []byte("x"),
	}
}

func TestResultEncoding(t *testing.T) {
	for _, want := range []Result{model(), {Run: "a", Failure: "it diverged"}, {Run: "a", Trials: []byte{1}}} {
		text, err := want.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		got, err := UnmarshalResult(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, want)
		}
	}
}

// Results that no worker makes have no encoding, and so aren't decoded either.
func TestResultsThatAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(r *Result){
		"no run":            func(r *Result) { r.Run = "" },
		"a path as run":     func(r *Result) { r.Run = "../x" },
		"a long run":        func(r *Result) { r.Run = strings.Repeat("a", maxID+1) },
		"a terminal":        func(r *Result) { r.Machine = "\x1b[2J" },
		"two lines":         func(r *Result) { r.Machine = "a\nb" },
		"no UTF-8":          func(r *Result) { r.Identity = "\xff" },
		"model and failure": func(r *Result) { r.Failure = "x" },
		"no files":          func(r *Result) { r.Released = nil },
		"no private values": func(r *Result) { r.Private = nil },
		"nothing":           func(r *Result) { *r = Result{Run: "a"} },
		"a score with failure": func(r *Result) {
			*r = Result{Run: "a", Failure: "x", Score: release.Score{Metric: "accuracy", Value: 1}}
		},
		"no number": func(r *Result) { r.Score.Value = math.NaN() },
		"infinite":  func(r *Result) { r.Score.Value = math.Inf(1) },
		"many files": func(r *Result) {
			for k := range maxFiles {
				r.Released[strings.Repeat("x", k+1)] = nil
			}
		},
	} {
		r := model()
		spoil(&r)
		if text, err := r.Marshal(); err == nil || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
	for _, name := range []string{"", ".", "..", "../x", "/x", "a//b", "a/", "a/../b", ".x", "a/.x", `a\b`, "c:x", "a\x00", "a\n", strings.Repeat("x", maxName+1), "a/..", "\xff"} {
		r := model()
		r.Released[name] = []byte("x")
		if err := r.Check(); err == nil {
			t.Errorf("the name %q is taken", name)
		}
	}
	most := model()
	for len(most.Released) < maxFiles {
		most.Released[strings.Repeat("x", 1+len(most.Released))] = nil
	}
	if err := most.Check(); err != nil {
		t.Error(err)
	}
	if most.Released["y"] = nil; most.Check() == nil {
		t.Errorf("%d files are taken", len(most.Released))
	}
	large, content := model(), make([]byte, maxResult/8) // one of many names
	for _, name := range strings.Split("abcdefgh", "") {
		large.Released[name] = content
	}
	if large.Check() == nil {
		t.Error("more than the maximum is taken")
	}
	text, err := model().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	twice := bytes.Replace(text, []byte(`"model.safetensors":`), []byte(`"model.safetensors":"","model.safetensors":`), 1)
	for _, text := range [][]byte{nil, []byte("null"), append(text[:len(text):len(text)], '{'), twice} {
		if r, err := UnmarshalResult(text); err == nil {
			t.Errorf("%s: %+v", text, r)
		}
	}
}

// Whatever is in a result, it is either refused or comes back as it was.
func TestResultsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Result{
			Run: rapid.StringMatching("[0-9a-f]{1,16}").Draw(t, "run"), Machine: rapid.String().Draw(t, "machine"),
			Released: rapid.MapOf(rapid.StringMatching(`[a-z./\\:]{1,8}`), rapid.SliceOf(rapid.Byte())).Draw(t, "released"),
			Private:  rapid.SliceOf(rapid.Byte()).Draw(t, "private"),
		}
		text, err := r.Marshal()
		if err != nil {
			return
		}
		got, err := UnmarshalResult(text)
		if err != nil {
			t.Fatal(err)
		}
		if got.Run != r.Run || got.Machine != r.Machine || !bytes.Equal(got.Private, r.Private) || !maps.EqualFunc(got.Released, r.Released, bytes.Equal) {
			t.Errorf("%+v became %+v", r, got)
		}
	})
}

func FuzzUnmarshalJob(f *testing.F) {
	text, err := Job{Run: "a", Settings: settingsOf(&testing.T{}, true)}.Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"run":"a","name":"b","tune":true,"settings":"preset: mnist"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		j, err := UnmarshalJob(text)
		if err != nil {
			return
		}
		if again, err := j.Marshal(); err != nil || !bytes.Equal(again, text) || j.Key != (train.Key{}) || j.Settings.Data.Train != "" {
			t.Errorf("%s became %s, %v", text, again, err)
		}
	})
}

func FuzzUnmarshalResult(f *testing.F) {
	for _, r := range []Result{model(), {Run: "a", Failure: "x"}} {
		text, err := r.Marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"run":"a","machine":"","identity":"","released":{"../x":"eA=="},"private":"eA=="}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := UnmarshalResult(text)
		if err != nil {
			return
		}
		for name := range r.Released {
			if strings.Contains(name, "..") || strings.ContainsAny(name, `\:`) || name[0] == '/' || name[0] == '.' {
				t.Errorf("the name %q is taken", name)
			}
		}
		if again, err := r.Marshal(); err != nil || !bytes.Equal(again, text) || !json.Valid(text) {
			t.Errorf("%s became %s, %v", text, again, err)
		}
	})
}
