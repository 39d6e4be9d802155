// Package configs reads the settings of an experiment. [Resolve] puts a settings file and overrides of the form
// key=value over a preset and returns a valid [Experiment]. [Presets] lists the presets, which have the paper's
// values for each data set and optimizer.
//
// Settings are resolved from weakest to strongest: the preset, the file, the overrides, which include a command's
// flags. Keys are dotted paths, such as privacy.subset_rate. Decoding is strict: a key that doesn't exist, occurs
// twice or has a value of the wrong type is an error that names the line and, if one is similar, the key that was
// probably meant.
//
// The guarantee depends on the block "privacy" and on the search space in "tuning". The block "performance" (number of
// cores, engine, GPUs) can't change it.
//
// Presets consist of layers too, in YAML that is meant to be read: layers/common.yaml explains all keys; a data set's
// file, such as mnist.yaml, adds its own values; and presets whose names end in adam or all, such as mnist-adam-all,
// put layers/adam.yaml and layers/all.yaml over those. Presets have the paper's values if it gives any: Koskela and
// Kulkarni, "Practical Differentially Private Hyperparameter Tuning with Subsampling", Section "Experimental Results"
// and the appendices "Full Description of Experiments" and "Hyperparameter Tables". One value differs: accounting is
// best, whose bounds let the same training cost less. Accounting paper gives the paper's epsilons.
package configs
