// Package configs reads the settings of an experiment. [Resolve] puts a settings file and overrides of the form
// key=value over a preset and returns a valid [Experiment]. [Presets] lists the presets, which have the paper's
// values for each data set and optimizer.
//
// A later layer overrides an earlier one: first the preset, then the file, then the overrides, which include a
// command's flags. Keys are dotted paths, such as privacy.subset_rate. Decoding is strict: a key must exist, occur
// once, and have a value of the right type. The error names the line and, for an unknown key, a similar one if there is
// one.
//
// The guarantee depends on the block "privacy" and on the search space in "tuning". The block "performance" (number of
// cores, engine, GPUs) can't change it.
//
// A preset consists of layers too, and the layers are YAML files that are meant to be read. layers/common.yaml explains
// all keys. A data set's file, such as mnist.yaml, adds its own values. Presets whose names contain -adam or -all, such
// as mnist-adam-all, add layers/adam.yaml and layers/all.yaml on top. Presets have the paper's values if it gives any:
// Koskela and Kulkarni, "Practical Differentially Private Hyperparameter Tuning with Subsampling", Section
// "Experimental Results" and the appendices "Full Description of Experiments" and "Hyperparameter Tables". One value
// differs: privacy.accounting is "best", whose bounds give the same training a smaller epsilon. The value "paper" gives
// the epsilons of the paper.
package configs
