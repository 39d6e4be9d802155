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

// An order's encoding has neither its key nor what is the machine's own, and comes back otherwise as it was.
func TestOrderEncoding(t *testing.T) {
	s := settingsOf(t, true)
	s.InsecureSeed = new(uint64(math.MaxUint64))
	s.Experiment.Performance = settings.Performance{Engine: settings.EngineCUDA, Workers: 17, Devices: []int{3}}
	key := train.NewKey()
	o := Order{Run: "0af3", Name: "mnist_v1_best_eps1_01", Settings: s, Trials: []int{4, 0}, Key: key}
	text, err := o.Marshal()
	if err != nil || bytes.Contains(text, key[:]) || bytes.Contains(text, []byte("17")) || bytes.Contains(text, []byte("cuda")) {
		t.Fatalf("%s, %v", text, err)
	}
	got, err := UnmarshalOrder(text)
	if err != nil {
		t.Fatal(err)
	}
	want := o
	want.Key = train.Key{}
	want.Settings.Experiment.Performance = settings.Performance{Engine: settings.EngineAuto, Devices: []int{}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// What Marshal doesn't write is refused.
func TestOrdersThatAreRefused(t *testing.T) {
	text, err := order(t, "a", 1, settingsOf(t, false)).Marshal()
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
		"too large":          replaced(`"name":"`, `"name":"`+strings.Repeat("x", maxOrder)),
	} {
		if o, err := UnmarshalOrder([]byte(text)); err == nil || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
	}
}

// Orders train side by side if their data, model, optimizer and method are equal, whatever else differs.
func TestGroup(t *testing.T) {
	first := order(t, "a", 1, settingsOf(t, true))
	for _, same := range []Order{
		order(t, "b", 2, settingsOf(t, true)), order(t, "b", 2, settingsOf(t, true, "privacy.epsilon=2")), order(t, "b", 2, settingsOf(t, true, "performance.workers=3")),
		order(t, "b", 2, settingsOf(t, true, "privacy.delta=1e-6")),
	} {
		if same.Group() != first.Group() {
			t.Errorf("%+v is in another group", same.Settings)
		}
	}
	seen := map[string]bool{first.Group(): true}
	for _, other := range []Order{
		order(t, "a", 1, settingsOf(t, false)), order(t, "a", 1, settingsOf(t, true, "model=mlp:8")), order(t, "a", 1, settingsOf(t, true, "privacy.variant=2")),
		order(t, "a", 1, settingsOf(t, true, "training.optimizer=dp-adam")), order(t, "a", 1, settingsOf(t, true, "tuning.tune=[rate, batch]", "tuning.batch_sizes=[32]")),
		order(t, "a", 1, settingsOf(t, true, "activation.scale=1")),
	} {
		group := other.Group()
		if seen[group] || !strings.HasPrefix(group, "glyphs-") || strings.Trim(group, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			t.Errorf("group %q of %+v", group, other.Settings)
		}
		seen[group] = true
	}
	// Trials of one run train side by side, and those of two runs don't: each has its own key.
	trials := func(run string, numbers ...int) Order {
		o := order(t, run, 1, settingsOf(t, true))
		o.Trials = numbers
		return o
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

// model is a delivery of a model that Check takes.
func model() Delivery {
	return Delivery{
		Run: "0af3", Machine: "a machine", Arithmetic: "cpu, amd64", Identity: "ff", Score: release.ScoreOf("accuracy", 0.5),
		Released: map[string][]byte{"model.safetensors": {0, 1, 255}, "a/b.json": []byte("{}")}, Private: []byte(`{"trials": [{"steps": 3, "seconds": 4}], "seconds": 5}`),
		Trials: []byte("x"),
	}
}

func TestDeliveryEncoding(t *testing.T) {
	for _, want := range []Delivery{model(), {Run: "a", Failure: "it diverged"}, {Run: "a", Trials: []byte{1}}} {
		text, err := want.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		got, err := UnmarshalDelivery(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, want)
		}
	}
}

// Deliveries that no machine makes have no encoding, and so aren't decoded either.
func TestDeliveriesThatAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(d *Delivery){
		"no run":               func(d *Delivery) { d.Run = "" },
		"a path as run":        func(d *Delivery) { d.Run = "../x" },
		"a long run":           func(d *Delivery) { d.Run = strings.Repeat("a", maxID+1) },
		"a terminal":           func(d *Delivery) { d.Machine = "\x1b[2J" },
		"two lines":            func(d *Delivery) { d.Arithmetic = "a\nb" },
		"no UTF-8":             func(d *Delivery) { d.Identity = "\xff" },
		"model and failure":    func(d *Delivery) { d.Failure = "x" },
		"no files":             func(d *Delivery) { d.Released = nil },
		"no private values":    func(d *Delivery) { d.Private = nil },
		"nothing":              func(d *Delivery) { *d = Delivery{Run: "a"} },
		"a score with failure": func(d *Delivery) { *d = Delivery{Run: "a", Failure: "x", Score: release.ScoreOf("accuracy", 1)} },
		"no number":            func(d *Delivery) { d.Score.Value = math.NaN() },
		"infinite":             func(d *Delivery) { d.Score.Value = math.Inf(1) },
		"many files": func(d *Delivery) {
			for k := range maxFiles {
				d.Released[strings.Repeat("x", k+1)] = nil
			}
		},
	} {
		d := model()
		spoil(&d)
		if text, err := d.Marshal(); err == nil || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
	for _, name := range []string{"", ".", "..", "../x", "/x", "a//b", "a/", "a/../b", ".x", "a/.x", `a\b`, "c:x", "a\x00", "a\n", strings.Repeat("x", maxName+1), "a/..", "\xff"} {
		d := model()
		d.Released[name] = []byte("x")
		if err := d.Check(); err == nil {
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
	large, content := model(), make([]byte, maxDelivery/8) // one of many names
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
		if d, err := UnmarshalDelivery(text); err == nil {
			t.Errorf("%s: %+v", text, d)
		}
	}
}

// Whatever is in a delivery, it is either refused or comes back as it was.
func TestDeliveriesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Delivery{
			Run: rapid.StringMatching("[0-9a-f]{1,16}").Draw(t, "run"), Machine: rapid.String().Draw(t, "machine"),
			Released: rapid.MapOf(rapid.StringMatching(`[a-z./\\:]{1,8}`), rapid.SliceOf(rapid.Byte())).Draw(t, "released"),
			Private:  rapid.SliceOf(rapid.Byte()).Draw(t, "private"),
		}
		text, err := d.Marshal()
		if err != nil {
			return
		}
		got, err := UnmarshalDelivery(text)
		if err != nil {
			t.Fatal(err)
		}
		if got.Run != d.Run || got.Machine != d.Machine || !bytes.Equal(got.Private, d.Private) || !maps.EqualFunc(got.Released, d.Released, bytes.Equal) {
			t.Errorf("%+v became %+v", d, got)
		}
	})
}

func FuzzUnmarshalOrder(f *testing.F) {
	text, err := Order{Run: "a", Settings: settingsOf(&testing.T{}, true)}.Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"run":"a","name":"b","tune":true,"settings":"preset: mnist"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		o, err := UnmarshalOrder(text)
		if err != nil {
			return
		}
		if again, err := o.Marshal(); err != nil || !bytes.Equal(again, text) || o.Key != (train.Key{}) || o.Settings.Data.Train != "" {
			t.Errorf("%s became %s, %v", text, again, err)
		}
	})
}

func FuzzUnmarshalDelivery(f *testing.F) {
	for _, d := range []Delivery{model(), {Run: "a", Failure: "x"}} {
		text, err := d.Marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"run":"a","machine":"","arithmetic":"","identity":"","released":{"../x":"eA=="},"private":"eA=="}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := UnmarshalDelivery(text)
		if err != nil {
			return
		}
		for name := range d.Released {
			if strings.Contains(name, "..") || strings.ContainsAny(name, `\:`) || name[0] == '/' || name[0] == '.' {
				t.Errorf("the name %q is taken", name)
			}
		}
		if again, err := d.Marshal(); err != nil || !bytes.Equal(again, text) || !json.Valid(text) {
			t.Errorf("%s became %s, %v", text, again, err)
		}
	})
}
