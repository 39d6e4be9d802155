// Package configs holds the settings of an experiment: presets with the paper's values for each data set, optimizer and
// experiment, and the layers that a person puts over them.
//
// Settings are resolved from weakest to strongest: the preset, a file, overrides of
// the form key=value (a command's flags are overrides too). Keys are dotted paths, such as
// privacy.subset_rate. Decoding is strict: a key that doesn't exist, exists twice or holds a value of
// the wrong type is an error that names the line and, where one is near, the key that was meant.
//
// The guarantee depends on the block "privacy" and on the search space in "tuning"; the block
// "performance" (how many cores, which engine, which GPUs) can't change it.
//
// Presets are layers too, of ordinary YAML that is meant to be read: layers/common.yaml explains every key, a data set's
// file, such as mnist.yaml, adds what belongs to it, and layers/adam.yaml and layers/all.yaml are laid over that by
// presets whose names end so: mnist-adam-all. Where the
// paper has a value the preset has it too: Koskela and Kulkarni, "Practical Differentially Private
// Hyperparameter Tuning with Subsampling", Section "Experimental Results" and the appendices "Full
// Description of Experiments" and "Hyperparameter Tables". One value is not the paper's: accounting is
// best, whose bounds let the same training cost less; accounting paper gives the paper's epsilons.
package configs
