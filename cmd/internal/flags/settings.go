package flags

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/internal/networks"
)

// flagOf is the flag of a setting.
type flagOf struct{ flag, key, kind, usage string }

// settingFlags are the settings with flags, in the order of help.
var settingFlags = []flagOf{
	{"preset", "preset", "name", "settings to begin with; see dptrain settings --presets"},
	{"dataset", "dataset", "name", "data set, which brings the preset of its name; see dptrain data list"},
	{"model", "model", "name", "linear, mlp, mlp:WIDTHS such as mlp:120,120, or cnn for images"},
	{"variant", "privacy.variant", "name", "1: final run on the rest of the data; 2: on all of it; baseline: tune on all data, no final run"},
	{"epsilon", "privacy.epsilon", "float", "privacy budget for everything that is released; the noise follows"},
	{"noise-multiplier", "privacy.noise_multiplier", "float", "sigma, in units of the clipping norm; the epsilon follows"},
	{"delta", "privacy.delta", "float", "delta of the guarantee"},
	{"accounting", "privacy.accounting", "name", "bounds to use: best, tight, or paper for the paper's own"},
	{"q", "privacy.subset_rate", "float", "subset rate: each sample's probability of being tuned on"},
	{"holdout", "privacy.holdout", "float", "hold out this share of the private rows to score models with noise, where there is no public test set"},
	{"mu", "privacy.mean_repetitions", "float", "mean number of trials"},
	{"repetitions", "privacy.repetitions", "name", "distribution of the number of trials: poisson, truncated-poisson, geometric, negative-binomial or logarithmic; binomial, which varies least; or fixed, always mu trials"},
	{"max-trials", "privacy.max_repetitions", "int", "largest number of binomial trials; twice mu without this flag"},
	{"sampling-rate", "privacy.sampling_rate", "float", "gamma: each sample's probability of being in a batch"},
	{"epochs", "privacy.epochs", "float", "expected passes over the data; steps = epochs/gamma"},
	{"clipping-norm", "privacy.clipping_norm", "float", "C: bound of each sample's gradient norm"},
	{"clipping", "privacy.clipping", "name", "fixed: gradients of larger norms are scaled down to C; automatic: all are multiplied by C/(norm + 0.01), so that C needs no search"},
	{"optimizer", "training.optimizer", "name", "sgd, momentum, nesterov, adam or adamw; dp-sgd and so on are the same"},
	{"momentum", "training.momentum", "float", "momentum of the optimizers momentum and nesterov, 0.9 without this flag"},
	{"weight-decay", "training.weight_decay", "float", "take learning rate times this off every parameter at each update; 0.01 with adamw without this flag, never with adam"},
	{"schedule", "training.schedule", "name", "learning rate by step: constant, linear or cosine; the last two fall to 0"},
	{"warmup", "training.warmup", "float", "share of the steps over which the learning rate first rises, such as 0.05"},
	{"accumulate", "training.accumulate", "int", "noisy gradients to average into one update; each costs privacy"},
	{"average", "training.average", "float", "release an average of the parameters: 0.999 for an exponential one, 1 for the mean of all updates"},
	{"tune", "tuning.tune", "list", "what to search for: rate, batch, epochs, clip, such as rate,epochs; or all, what the paper tunes: rate, batch and epochs. Or rule: no search, a rule gives the hyperparameters of a linear model on your own files; auto, their default: the rule if it applies"},
	{"search", "tuning.search", "name", "grid: from the lists of the search space; random: rates from the range that their list spans, log-uniformly"},
	{"largest-final-rate", "tuning.largest_final_rate", "float", "leave out learning rates that would be larger in the final run; 0 means none, or for numbers in your own files with dp-sgd a bound from the public rows"},
	{"division", "tuning.division", "name", "how runs of several sampling rates or epochs share the budget: cost, each costs the same alone; or noise, all have the same noise multiplier, so that the dearest get less noise and the others more"},
	{"metric", "tuning.metric", "name", "what selects the best trial of classes: accuracy, log-loss or auc; on held-out rows accuracy or log-loss"},
	{"fixed", "privacy.fixed", "name", "epochs: noise follows from epsilon; noise: with noise multiplier and epsilon given, epochs follow"},
	{"learning-rate", "training.learning_rate", "float", "learning rate"},
	{"workers", "performance.workers", "int", "cores to use; 0 means all. Never changes a result"},
	{"engine", "performance.engine", "name", "cpu; cuda, which needs a GPU; or auto: GPUs if there are usable ones, else the CPU. Never changes the guarantee"},
	{"devices", "performance.devices", "list", "GPUs to use, such as 0,1, by their numbers in dptrain devices; without it all that are usable"},
}

// Settings are the flags that an experiment is resolved from.
type Settings struct {
	config  string
	sets    []string
	flags   []*settingFlag
	columns []*columnFlag
	given   []settings.Override // by the command line, once it is read
}

// settingFlag is the flag of one setting. Its values stay text, so that package settings checks flags, --set and files
// alike.
type settingFlag struct {
	flagOf
	values []string // one for each time the flag is given
}

func (f *settingFlag) String() string { return strings.Join(f.values[max(0, len(f.values)-1):], "") }
func (f *settingFlag) Type() string   { return f.kind }
func (f *settingFlag) Set(value string) error {
	f.values = append(f.values, value)
	return nil
}

// Add gives a command --config, --set and the flags of all settings but those named.
func (s *Settings) Add(cmd *cobra.Command, except ...string) {
	fs := cmd.Flags()
	fs.SortFlags = false
	s.addDefined(cmd, settingFlags, func(flag string) bool { return !slices.Contains(except, flag) })
	fs.StringVar(&s.config, "config", "", "settings `file` (YAML) over the data set's preset")
	fs.StringArrayVar(&s.sets, "set", nil, "one more setting, as `key=value`; may be repeated")
	Complete(cmd, "preset", settings.Presets()...)
	Complete(cmd, "dataset", settings.Datasets()...)
	Complete(cmd, "tune", append(settings.Tunable(), settings.TuneAll, settings.TuneAuto, settings.TuneRule)...)
	Complete(cmd, "search", settings.Searches()...)
	Complete(cmd, "division", settings.Divisions()...)
	Complete(cmd, "metric", settings.Metrics()...)
	Complete(cmd, "clipping", settings.Clippings()...)
	Complete(cmd, "fixed", settings.FixedEpochs, settings.FixedNoise)
	Complete(cmd, "model", networks.Names()...)
	Complete(cmd, "variant", "1", "2", "baseline")
	Complete(cmd, "accounting", "paper", "tight", "best")
	Complete(cmd, "repetitions", settings.Repetitions()...)
	Complete(cmd, "optimizer", settings.Optimizers()...)
	Complete(cmd, "schedule", settings.Schedules()...)
	Complete(cmd, "engine", settings.Engines()...)
}

// AddOnly gives a command the flags of some settings.
func (s *Settings) AddOnly(cmd *cobra.Command, flags ...string) {
	s.addDefined(cmd, slices.Concat(settingFlags, fileFlags), func(flag string) bool { return slices.Contains(flags, flag) })
	Complete(cmd, "engine", settings.Engines()...)
}

// addDefined gives a command the wanted ones of the defined flags.
func (s *Settings) addDefined(cmd *cobra.Command, defined []flagOf, wanted func(flag string) bool) {
	for _, def := range defined {
		if wanted(def.flag) {
			f := &settingFlag{flagOf: def}
			s.flags = append(s.flags, f)
			cmd.Flags().Var(f, def.flag, def.usage)
		}
	}
}

// overrides returns what the flags of settings give.
func (s *Settings) overrides() []settings.Override {
	var out []settings.Override
	for _, f := range s.flags {
		for _, value := range f.values {
			out = append(out, settings.Override{Key: f.key, Value: value, From: "--" + f.flag})
		}
	}
	return out
}

// Complete registers the values of a flag for the shell's completion.
func Complete(cmd *cobra.Command, flag string, values ...string) {
	if cmd.Flags().Lookup(flag) != nil {
		// It fails for unknown flags only.
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
}

// Resolve returns the experiment of the flags, --set and the file, which may be a terminal or a pipe. Flags and --set
// override the file and must not contradict each other.
func (s *Settings) Resolve() (settings.Experiment, error) {
	var overrides []settings.Override
	for _, text := range s.sets {
		o, err := settings.ParseOverride(text)
		if err != nil {
			return settings.Experiment{}, term.Usage(err)
		}
		o.From = "--set"
		overrides = append(overrides, o)
	}
	overrides = append(overrides, s.overrides()...)
	for _, f := range s.columns {
		given, err := f.overrides()
		if err != nil {
			return settings.Experiment{}, err
		}
		overrides = append(overrides, given...)
	}
	s.given = overrides
	file := settings.File{Name: s.config}
	if s.config != "" {
		text, err := os.ReadFile(s.config)
		if err != nil {
			return settings.Experiment{}, term.Inputf("read settings: %w", err)
		}
		file.Text = text
	}
	e, err := settings.Resolve(file, overrides)
	if err != nil {
		return e, term.Usage(named(err, overrides))
	}
	return e, checkModel(e.Model)
}

// named adds the flag that gives a setting to an error that begins with the setting's key.
func named(err error, overrides []settings.Override) error {
	var by []string
	for _, o := range overrides {
		if strings.HasPrefix(err.Error(), o.Key+": ") {
			by = append(by, o.From)
		}
	}
	if len(by) != 1 || by[0] == "--set" { // --set has the key in it, and an error about two sources names both
		return err
	}
	return fmt.Errorf("%s, %w", by[0], err)
}

// checkModel returns an error for a name that is no model, whatever the samples.
func checkModel(spec string) error {
	err := networks.Check(spec)
	if named, ok := errors.AsType[*networks.UnknownError](err); ok {
		return term.Unknown("model", named.Name, networks.Names())
	}
	return term.Usage(err)
}

// CheckTuned returns an error for a setting of the command line that has no effect on the tuning.
func (s *Settings) CheckTuned(e settings.Experiment) error {
	for _, o := range s.given {
		if why := uncounted(e, o.Key); why != "" {
			return term.Usagef("%s: %s", sourceOf(o), why)
		}
	}
	return nil
}

// ofSearches are the settings outside of the block tuning that affect searches alone.
var ofSearches = []string{"privacy.variant", "privacy.subset_rate", "privacy.holdout", "privacy.mean_repetitions",
	"privacy.repetitions", "privacy.repetitions_shape", "privacy.max_repetitions"}

// CheckUntuned returns an error for a setting of the command line that affects searches alone.
func (s *Settings) CheckUntuned() error {
	for _, o := range s.given {
		if strings.HasPrefix(o.Key, "tuning.") || slices.Contains(ofSearches, o.Key) {
			return term.Usagef("%s: one run is trained, without a search; leave it out, or choose dptrain tune", sourceOf(o))
		}
	}
	return nil
}

// sourceOf returns the flag that gives a setting.
func sourceOf(o settings.Override) string {
	if o.From == "--set" {
		return "--set " + o.Key
	}
	return o.From
}

// uncounted returns the reason why a setting has no effect on a tuning, or nothing if it has one.
func uncounted(e settings.Experiment, key string) string {
	for _, c := range []struct{ one, tuned, list, lists string }{
		{"training.learning_rate", settings.TuneRate, "tuning.learning_rates", "tuning.learning_rates"},
		{"privacy.epochs", settings.TuneEpochs, "tuning.epochs", "tuning.epochs"},
		{"privacy.sampling_rate", settings.TuneBatch, "tuning.batch_sizes", "tuning.batch_sizes or tuning.sampling_rates"},
		{"privacy.sampling_rate", settings.TuneBatch, "tuning.sampling_rates", "tuning.batch_sizes or tuning.sampling_rates"},
		{"privacy.clipping_norm", settings.TuneClip, "tuning.clipping_norms", "tuning.clipping_norms"},
	} {
		switch tuned := e.Tunes(c.tuned); {
		case key == c.one && tuned:
			return fmt.Sprintf("it is tuned, and its values are those of %s; leave %s out of --tune, or the flag", c.lists, c.tuned)
		case key == c.list && !tuned:
			return fmt.Sprintf("%s isn't among what is tuned; name it in --tune, or leave out the list", c.tuned)
		}
	}
	switch p := e.Privacy; {
	case key == "privacy.epochs" && p.Fixed == settings.FixedNoise:
		return "with privacy.fixed noise the epochs follow; leave it out"
	case key == "privacy.repetitions_shape" && p.Repetitions != experiment.NegativeBinomial:
		return fmt.Sprintf("%s repetitions have no shape; choose --repetitions %s, or leave it out", p.Repetitions, experiment.NegativeBinomial)
	case key == "privacy.max_repetitions" && p.Repetitions != settings.Binomial:
		return fmt.Sprintf("%s repetitions have no such maximum; choose --repetitions %s, or leave it out", p.Repetitions, settings.Binomial)
	case key == "tuning.ranges" && e.Tuning.Search != settings.SearchRandom:
		return "a grid has no ranges; choose --search random, or leave it out"
	}
	return ""
}

// Restored returns the settings that a run began with, with the command line's over them. The paths of a run's
// own files are relative to the folder that it began in.
func (s *Settings) Restored(text []byte, folder string) (settings.Experiment, error) {
	e, err := settings.Resolve(settings.File{Name: "settings.yaml", Text: text}, s.overrides())
	if err != nil {
		return e, term.Usage(err)
	}
	for _, f := range []struct {
		flag string
		path *string
	}{{"train", &e.Data.Train}, {"test", &e.Data.Test}} {
		if *f.path == "" || slices.ContainsFunc(s.overrides(), func(o settings.Override) bool { return o.Key == "data."+f.flag }) {
			continue
		}
		if !filepath.IsAbs(*f.path) {
			*f.path = filepath.Join(folder, *f.path)
		}
		if _, err := os.Stat(*f.path); errors.Is(err, fs.ErrNotExist) {
			return e, term.Inputf("%w: --%s says where it is now", err, f.flag)
		}
	}
	return e, nil
}

// Words returns the flags that were given, to give them to another command.
func (s *Settings) Words() []string {
	var words []string
	if s.config != "" {
		words = append(words, "--config", s.config)
	}
	for _, set := range s.sets {
		words = append(words, "--set", set)
	}
	for _, f := range s.flags {
		if len(f.values) > 0 {
			words = append(words, "--"+f.flag, f.String())
		}
	}
	for _, f := range s.columns {
		for _, value := range f.values {
			words = append(words, "--"+f.name(), value)
		}
	}
	return words
}
