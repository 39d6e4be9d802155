package settings

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/configs"
)

func TestBadSettings(t *testing.T) {
	for _, c := range []struct {
		name, file string
		sets       []Override
		want       string
	}{
		{"mistyped key", "model: mlp\nprivacy:\n  epsilom: 2\n", nil, "line 3: unknown key privacy.epsilom; did you mean privacy.epsilon?"},
		{"forgotten block", "epsilon: 2\n", nil, "line 1: unknown key epsilon; did you mean privacy.epsilon?"},
		{"mistyped block", "privcy: {epsilon: 2}", nil, "line 1: unknown key privcy; did you mean privacy?"},
		{"twice", "model: a\nmodel: b\n", nil, "line 2: model is set twice"},
		{"not a number", "privacy:\n  delta: small\n", nil, `line 2: privacy.delta: want a number, got "small"`},
		{"not a whole number", "performance: {workers: 1.5}", nil, `line 1: performance.workers: want a whole number, got "1.5"`},
		{"not whole numbers", "performance: {devices: [0, 1.5]}", nil, `line 1: performance.devices: want a list of whole numbers, got the list ["0" "1.5"]`},
		{"nothing for a number", "performance: {devices: [~]}", nil, `line 1: performance.devices: want a list of whole numbers, got the list ["~"]`},
		{"not a list", "tuning: {learning_rates: 1}", nil, `line 1: tuning.learning_rates: want a list of numbers, got "1"`},
		{"list of words", "tuning: {learning_rates: [1, x]}", nil, `line 1: tuning.learning_rates: want a list of numbers, got the list ["1" "x"]`},
		{"not a block", "privacy: 3", nil, `line 1: privacy: want a block of settings, got "3"`},
		{"not settings", "[1, 2]", nil, "want a block of settings, as dptrain settings prints one; this file holds none"},
		{"a private file", "39, 1\n40, 0\n", nil, "want a block of settings, as dptrain settings prints one; this file holds none"},
		{"list of long values", "tuning: {learning_rates: [" + strings.Repeat("x", 61) + "]}", nil, `line 1: tuning.learning_rates: want a list of numbers, got the list ["` + strings.Repeat("x", 60) + `…"]`},
		{"long value", "privacy: {delta: " + strings.Repeat("x", 61) + "}", nil, `line 1: privacy.delta: want a number, got "` + strings.Repeat("x", 60) + `…"`},
		{"no value", "model:\n", nil, "line 1: model: no value; want text"},
		{"alias", "model: &m cnn\ndataset: *m\n", nil, "line 1: model: anchors and aliases are not supported; write the value out"},
		{"alias of a key", "&model preset: mnist\n*model : cnn\n", nil, "line 1: anchors and aliases are not supported; write the value out"},
		{"two documents", "model: cnn\n---\nmodel: mlp\n", nil, "more than one document; put all settings into one"},
		{"broken", "model: [", nil, "line 1: this can't be read as YAML; check brackets, quotes, colons and indentation, which takes spaces and no tabs"},
		{"unknown data set", "dataset: mnits", nil, `unknown data set "mnits"; did you mean mnist?`},
		{"unlike any data set", "", sets("dataset=imagenet"), `unknown data set "imagenet"; there are cifar-10, fashion-mnist, files, glyphs, imdb, mnist`},

		{"unknown override", "", sets("privacy.sigma=1"), "unknown key privacy.sigma; there are privacy.epsilon, "},
		{"override of a block", "", sets("activation=1"), "activation is a block of settings; set one of activation.scale, activation.temperature, activation.offset"},
		{"override beyond a setting", "", sets("model.name=cnn"), "unknown key model.name; there are preset, dataset, data, text_length, model, "},
		{"list without brackets", "", sets("performance.devices=0,1", "tuning.learning_rates=1, 0.1"), ""},
		{"list of something else", "", sets("performance.devices=0,one"), `performance.devices: want a list of whole numbers, got the list ["0" "one"]`},
		{"list with a hole", "", sets("performance.devices=0,,1"), `performance.devices: want a list of whole numbers, got "0,,1"`},
		{"empty list", "", sets("performance.devices="), `performance.devices: no value; want a list of whole numbers, or leave it out`},
		{"number beyond all", "", sets("performance.devices=99999999999999999999"), `performance.devices: want a list of whole numbers, got the list ["99999999999999999999"]`},
		{"override of another type", "", sets("privacy.delta=tiny"), `privacy.delta: want a number, got "tiny"`},
		{"empty override", "", sets("privacy.delta="), `privacy.delta: no value; want a number, or leave it out`},
		{"both budgets in one layer", "privacy: {epsilon: 1, noise_multiplier: 2}", nil, "privacy: epsilon and noise_multiplier are both given; one follows from the other, give one"},
		{"both budgets overridden", "", sets("privacy.epsilon=1", "privacy.noise_multiplier=2"), "privacy: epsilon and noise_multiplier are both given"},

		{"q", "", sets("privacy.subset_rate=1"), "privacy.subset_rate: must lie strictly between 0 and 1, got 1"},
		{"q NaN", "", sets("privacy.subset_rate=.nan"), `privacy.subset_rate: want a plain decimal number such as 10 or 2.5e-3, got ".nan"`},
		{"mu", "", sets("privacy.mean_repetitions=0"), "privacy.mean_repetitions: must be above 0 and at most 1e6 with poisson repetitions, got 0"},
		{"large mu", "", sets("privacy.mean_repetitions=1e9"), "privacy.mean_repetitions: must be above 0 and at most 1e6 with poisson repetitions, got 1e+09"},
		{"mu NaN", "", sets("privacy.mean_repetitions=.nan", "privacy.repetitions=geometric"), `privacy.mean_repetitions: want a plain decimal number such as 10 or 2.5e-3, got ".nan"`},
		{"small mu", "", sets("privacy.mean_repetitions=0.1"), ""},
		{"truncated at 1", "", sets("privacy.mean_repetitions=1", "privacy.repetitions=truncated-poisson"), "privacy.mean_repetitions: must be above 1 and at most 1e6 with truncated-poisson repetitions, got 1"},
		{"truncated above 1", "", sets("privacy.mean_repetitions=1.1", "privacy.repetitions=truncated-poisson"), ""},
		{"geometric below 1", "", sets("privacy.mean_repetitions=0.9", "privacy.repetitions=geometric"), "privacy.mean_repetitions: must be at least 1 and at most 1e6 with geometric repetitions, got 0.9"},
		{"geometric at 1", "", sets("privacy.mean_repetitions=1", "privacy.repetitions=geometric"), ""},
		{"logarithmic at 1", "", sets("privacy.mean_repetitions=1", "privacy.repetitions=logarithmic"), ""},
		{"negative binomial above", "", sets("privacy.mean_repetitions=2e6", "privacy.repetitions=negative-binomial"), "privacy.mean_repetitions: must be at least 1 and at most 1e6 with negative-binomial repetitions, got 2e+06"},
		{"half a trial", "", sets("privacy.mean_repetitions=2.5", "privacy.repetitions=fixed"), "privacy.mean_repetitions: must be a whole number from 1 on and at most 1e6 with fixed repetitions, got 2.5"},
		{"maximum", "", sets("privacy.max_repetitions=7", "privacy.repetitions=binomial"), "privacy.max_repetitions: must be at least the mean of 8, got 7"},
		{"maximum of the mean", "", sets("privacy.max_repetitions=8", "privacy.repetitions=binomial"), ""},
		{"large maximum", "", sets("privacy.max_repetitions=2000001"), "privacy.max_repetitions: must be at most 2e6, or 0 for twice the mean, got 2000001"},
		{"shape", "", sets("privacy.repetitions_shape=-1"), "privacy.repetitions_shape: must be above -1 and at most 1e6, got -1"},
		{"shape NaN", "", sets("privacy.repetitions_shape=.nan"), `privacy.repetitions_shape: want a plain decimal number such as 10 or 2.5e-3, got ".nan"`},
		{"repetitions", "", sets("privacy.repetitions=logarithmik"), `privacy.repetitions: must be one of poisson, truncated-poisson, geometric, negative-binomial, logarithmic, binomial, fixed; got "logarithmik"`},
		{"delta", "", sets("privacy.delta=1"), "privacy.delta: must lie strictly between 0 and 1, got 1"},
		{"epsilon", "", sets("privacy.epsilon=-1"), "privacy.epsilon: must be a number above 0, got -1"},
		{"noise", "", sets("privacy.noise_multiplier=0"), "privacy.noise_multiplier: must be a number above 0, got 0"},
		{"neither", "", sets("privacy.epsilon=null"), "privacy.epsilon: no value; want a number, or leave the line out"},
		{"gamma", "", sets("privacy.sampling_rate=0"), "privacy.sampling_rate: gamma must be above 0 and at most 1, got 0"},
		{"epochs", "", sets("privacy.epochs=.inf"), `privacy.epochs: want a plain decimal number such as 10 or 2.5e-3, got ".inf"`},
		{"clipping norm", "", sets("privacy.clipping_norm=-1"), "privacy.clipping_norm: must lie between 1e-9 and 1e9, got -1"},
		{"clipping norm NaN", "", sets("privacy.clipping_norm=.nan"), `privacy.clipping_norm: want a plain decimal number such as 10 or 2.5e-3, got ".nan"`},
		{"small clipping norm", "", sets("privacy.clipping_norm=1e-300"), "privacy.clipping_norm: must lie between 1e-9 and 1e9, got 1e-300"},
		{"large clipping norm", "", sets("privacy.clipping_norm=1e300"), "privacy.clipping_norm: must lie between 1e-9 and 1e9, got 1e+300"},
		{"smallest clipping norm", "", sets("privacy.clipping_norm=1e-9"), ""},
		{"largest clipping norm", "", sets("privacy.clipping_norm=1e9"), ""},
		{"variant", "", sets("privacy.variant=3"), `privacy.variant: must be one of 1, 2, baseline; got "3"`},
		{"accounting", "", sets("privacy.accounting=loose"), `privacy.accounting: must be one of paper, tight, best; got "loose"`},
		{"optimizer", "", sets("training.optimizer=sdg"), `training.optimizer: must be one of dp-sgd, dp-momentum, dp-nesterov, dp-adam, dp-adamw; got "sdg"`},
		{"no rates", "", sets("tuning.learning_rates=[]"), "tuning.learning_rates: must list at least one rate"},
		{"rate twice", "", sets("tuning.learning_rates=[1, 0.1, 1]"), "tuning.learning_rates: 1 stands twice, list it once"},
		{"rate of zero", "", sets("tuning.learning_rates=[0]"), "tuning.learning_rates: must be a number above 0, got 0"},
		{"nothing tuned", "", sets("tuning.tune=[]"), "tuning.tune: must name at least one of rate, batch, epochs, clip, or all"},
		{"tunes something else", "", sets("tuning.tune=rate,epoch"), `tuning.tune: must be one of rate, batch, epochs, clip, all, auto, rule; got "epoch"`},
		{"tunes by the rule and the rate", "", sets("tuning.tune=rate,rule"), "tuning.tune: rule stands alone; leave out the others, or it"},
		{"decides and tunes the rate", "", sets("tuning.tune=auto,rate"), "tuning.tune: auto stands alone; leave out the others, or it"},
		{"tunes twice", "", sets("tuning.tune=rate,rate"), "tuning.tune: rate stands twice, list it once"},
		{"tunes a block", "", sets("tuning.tune=[{a: 1}]"), `tuning.tune: want a list of names, got the list [""]`},
		{"all and clip", "", sets("tuning.tune=all,clip", "tuning.clipping_norms=1,3"), ""},
		{"no norms", "", sets("tuning.tune=clip"), "tuning.clipping_norms: must list at least one norm"},
		{"no batches", "", sets("tuning.tune=batch", "tuning.batch_sizes=[]"), ""}, // the preset's remain
		{"no rates but epochs", "", sets("tuning.tune=epochs", "tuning.learning_rates=[]"), ""},
		{"batches and rates", "", sets("tuning.batch_sizes=64", "tuning.sampling_rates=0.1"), "tuning: batch_sizes and sampling_rates are both given; one follows from the other, give one"},
		{"batch of nothing", "", sets("tuning.batch_sizes=0"), "tuning.batch_sizes: must be whole numbers above 0, got 0"},
		{"batch twice", "", sets("tuning.batch_sizes=64,64"), "tuning.batch_sizes: 64 stands twice"},
		{"sampling rates", "", sets("tuning.sampling_rates=0.1,1.1"), "tuning.sampling_rates: gamma must be above 0 and at most 1, got 1.1"},
		{"epochs to tune", "", sets("tuning.epochs=-1"), "tuning.epochs: must be a number above 0, got -1"},
		{"norms to tune", "", sets("tuning.clipping_norms=1e10"), "tuning.clipping_norms: must lie between 1e-9 and 1e9, got 1e+10"},
		{"search", "", sets("tuning.search=gird"), `tuning.search: must be one of grid, random; got "gird"`},
		{"range of one", "", sets("tuning.search=random", "tuning.learning_rates=1"), "tuning.learning_rates: a range takes two values, its ends"},
		{"range of one that isn't tuned", "", sets("tuning.search=random", "tuning.epochs=1"), ""},
		{"no range", "", sets("tuning.search=random", "tuning.ranges=epochs"), "tuning.ranges: nothing that is tuned has a range; name one of rate, or search a grid"},
		{"unknown range", "", sets("tuning.ranges=all"), `tuning.ranges: must be one of rate, batch, epochs, clip; got "all"`},
		{"range twice", "", sets("tuning.ranges=rate,rate"), "tuning.ranges: rate stands twice, list it once"},
		{"final rate", "", sets("tuning.largest_final_rate=-1"), "tuning.largest_final_rate: must be a number above 0, or 0 for none, got -1"},
		{"final rate NaN", "", sets("tuning.largest_final_rate=.nan"), `tuning.largest_final_rate: want a plain decimal number such as 10 or 2.5e-3, got ".nan"`},
		{"division", "", sets("tuning.division=nose"), `tuning.division: must be one of cost, noise; got "nose"`},
		{"a division", "", sets("tuning.division=noise"), ""},
		{"fixed", "", sets("privacy.fixed=sigma"), `privacy.fixed: must be one of epochs, noise; got "sigma"`},
		{"fixed noise", "", sets("privacy.fixed=noise", "privacy.noise_multiplier=2"), ""}, // and the preset's epsilon
		{"fixed noise without any", "", sets("privacy.fixed=noise"), "privacy.fixed: with noise, give both epsilon and noise_multiplier; the epochs follow"},
		{"fixed noise and epochs", "", sets("privacy.fixed=noise", "privacy.noise_multiplier=2", "tuning.tune=rate,epochs"), "tuning.tune: with privacy.fixed noise the epochs follow, so that they can't be tuned"},
		{"fixed noise and all", "", sets("privacy.fixed=noise", "privacy.noise_multiplier=2", "tuning.tune=all"), ""},
		{"fixed noise in the file, epochs above it", "privacy: {fixed: noise, epsilon: 1, noise_multiplier: 2}", sets("privacy.fixed=epochs"), "privacy: epsilon and noise_multiplier are both given"},
		{"another metric", "", sets("tuning.metric=f1"), "tuning.metric: must be one of accuracy, log-loss, auc"},
		{"pairs of rows held out", "data: {train: a.csv, label: y}", sets("privacy.holdout=0.1", "tuning.metric=auc"), "tuning.metric: auc compares pairs of rows"},
		{"rows of a unit held out", "data: {train: a.csv, label: y, unit: who, rows_per_unit: 2}", sets("privacy.holdout=0.1"), "privacy.holdout: rows are held out one by one, and the unit of privacy is that of column who"},
		{"unknown preset", "preset: mnist-adm", nil, `unknown preset "mnist-adm"; did you mean mnist-adam?`},
		{"unlike any preset", "preset: resnet", nil, `unknown preset "resnet"; dptrain settings --presets lists them`},
		{"overlay for a data set", "dataset: mnist-adam", nil, `unknown data set "mnist-adam"; `},
		{"preset and another data set", "preset: mnist-adam\ndataset: imdb", nil, "preset mnist-adam is for data set mnist, not imdb; give one of the two"},

		{"offset", "", sets("activation.offset=.nan"), `activation.offset: want a plain decimal number such as 10 or 2.5e-3, got ".nan"`},
		{"workers", "", sets("performance.workers=-1"), "performance.workers: must be 0 (one for each core) to 1024, got -1"},
		{"engine", "", sets("performance.engine=cudda"), `performance.engine: must be one of auto, cpu, cuda; got "cudda"`},
		{"negative device", "", sets("performance.devices=0,-1"), "performance.devices: GPUs are numbered from 0, got -1; see dptrain devices"},
		{"device twice", "", sets("performance.devices=1,0,1"), "performance.devices: 1 stands twice, list it once"},
		{"devices of the CPU", "", sets("performance.devices=0", "performance.engine=cpu"), "performance.devices: GPUs are given, but performance.engine is cpu, which uses none; leave out one of --devices and --engine"},
		{"devices of the CPU in a file", "performance: {devices: [0], engine: cpu}", sets("performance.workers=1"), "performance.devices: GPUs are given, but performance.engine is cpu"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Resolve(File{Text: []byte(c.file)}, c.sets)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if c.want == "" && got != "" || len(got) < len(c.want) || got[:len(c.want)] != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// Settings that no file can contain are checked as well.
func TestNaNIsNoSetting(t *testing.T) {
	for name, set := range map[string]func(*Experiment){
		"epsilon":          func(e *Experiment) { e.Privacy.Epsilon = new(math.NaN()) },
		"noise":            func(e *Experiment) { e.Privacy.Epsilon, e.Privacy.NoiseMultiplier = nil, new(math.NaN()) },
		"delta":            func(e *Experiment) { e.Privacy.Delta = math.NaN() },
		"subset rate":      func(e *Experiment) { e.Privacy.SubsetRate = math.NaN() },
		"sampling rate":    func(e *Experiment) { e.Privacy.SamplingRate = math.NaN() },
		"mean repetitions": func(e *Experiment) { e.Privacy.MeanRepetitions = math.NaN() },
		"clipping norm":    func(e *Experiment) { e.Privacy.ClippingNorm = math.NaN() },
		"holdout":          func(e *Experiment) { e.Privacy.Holdout = math.NaN() },
		"learning rates":   func(e *Experiment) { e.Tuning.LearningRates = []float64{math.NaN()} },
	} {
		e, err := Preset("mnist")
		if err != nil {
			t.Fatal(err)
		}
		if set(&e); e.Validate() == nil {
			t.Errorf("%s: NaN is valid", name)
		}
	}
}

func sets(texts ...string) []Override {
	var all []Override
	for _, text := range texts {
		o, err := ParseOverride(text)
		if err != nil {
			panic(err)
		}
		all = append(all, o)
	}
	return all
}

func TestLayers(t *testing.T) {
	file := "dataset: mnist\nprivacy: {noise_multiplier: 2.5, epochs: 3}\ntuning: {learning_rates: [0.5]}\n"
	want, err := Preset("mnist")
	if err != nil {
		t.Fatal(err)
	}
	want.Privacy.Epsilon = new(1.5)
	want.Privacy.Epochs = 4
	want.Tuning.LearningRates = []float64{0.5}
	got, err := Resolve(File{Text: []byte(file)}, sets("privacy.epsilon=1.5", "privacy.epochs=4", "privacy.epochs=4.0"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// The CPU in a stronger layer drops the GPUs of a weaker one; nothing else does.
func TestLayersOfDevices(t *testing.T) {
	file := "performance: {devices: [2, 0]}"
	for _, c := range []struct {
		sets []Override
		want Performance
	}{
		{nil, Performance{Engine: "auto", Devices: []int{2, 0}}},
		{sets("performance.engine=cuda"), Performance{Engine: "cuda", Devices: []int{2, 0}}},
		{sets("performance.devices=1"), Performance{Engine: "auto", Devices: []int{1}}},
		{sets("performance.devices=[]"), Performance{Engine: "auto", Devices: []int{}}},
		{sets("performance.engine=cpu"), Performance{Engine: "cpu", Devices: []int{}}},
	} {
		e, err := Resolve(File{Text: []byte(file)}, c.sets)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, e.Performance); diff != "" {
			t.Errorf("%v (-want +got)\n%s", c.sets, diff)
		}
	}
}

func TestEveryKeyCanBeSet(t *testing.T) {
	values := map[string]string{"dataset": "mnist", "tuning.learning_rates": "[1]", "tuning.tune": "all",
		"data.categories": "{a: [b]}", "data.shapes": "{a: [2]}", "data.missing": "{a: {fill: 1}}", "data.written": "{a: '$1.5'}", "data.clip": "{a: [0, 1]}", "data.scale": "{a: [0, 1]}"}
	for _, key := range Keys() {
		value, ok := values[key]
		if !ok {
			value = "1"
		}
		var e Experiment
		if err := e.override(Override{Key: key, Value: value}); err != nil {
			t.Error(err)
		}
		if cmp.Equal(e, Experiment{}) {
			t.Errorf("%s=%s changed nothing", key, value)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"glyphs", "mnist", "fashion-mnist"}
	for name, want := range map[string]string{"mnits": "mnist", "glyph": "glyphs", "fashon-mnist": "fashion-mnist", "cifar-10": "", "": "", "x": "", "mnist": "mnist"} {
		if got := Nearest(name, names); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func FuzzResolve(f *testing.F) {
	for _, name := range append(Datasets(), "layers/common", "layers/adam", "layers/all") {
		text, err := configs.Files.ReadFile(name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("preset: imdb-adam-all\ntuning: {tune: [rate, clip], clipping_norms: [1, 2], sampling_rates: [0.1], search: random}"))
	f.Add([]byte("privacy: {fixed: noise, noise_multiplier: 2, epsilon: 1}\ntuning: {tune: [all], ranges: [batch]}"))
	f.Add([]byte("privacy: {epsilon: null, noise_multiplier: 2}"))
	f.Add([]byte("tuning: {learning_rates: [&a [*a]]}"))
	f.Add([]byte("<<: {model: cnn}\n? [a]\n: b"))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := Resolve(File{Text: text}, nil)
		if err != nil {
			return
		}
		written, err := e.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Resolve(File{Text: written}, nil)
		if err != nil {
			t.Fatalf("%v in\n%s", err, written)
		}
		if diff := cmp.Diff(e, again); diff != "" {
			t.Fatal(diff)
		}
	})
}

func FuzzOverride(f *testing.F) {
	for _, text := range []string{"privacy.epsilon=2", "tuning.learning_rates=[1, 2]", "model==", "=", "a.b.c=*x", "data.missing.a.indicator=yes", "dataset=#", "privacy.delta={a: 1}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o, err := ParseOverride(text)
		if err != nil {
			return
		}
		e, err := Resolve(File{}, []Override{o})
		if err == nil && e.Validate() != nil {
			t.Fatal("resolved to invalid settings")
		}
	})
}
