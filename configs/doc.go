// Package configs holds the settings of an experiment: one embedded preset for each data set, with
// the paper's values, and the layers that a person puts over it.
//
// Settings are resolved from weakest to strongest: the preset of the data set, a file, overrides of
// the form key=value (a command's flags are overrides too). Keys are dotted paths, such as
// privacy.subset_rate. Decoding is strict: a key that doesn't exist, exists twice or holds a value of
// the wrong type is an error that names the line and, where one is near, the key that was meant.
//
// Two blocks are kept apart. The guarantee depends on the block "privacy" alone; the block
// "performance" (how many cores, which engine, which GPUs) can't change it.
//
// A preset is an ordinary YAML file and is meant to be read: mnist.yaml explains every key. Where the
// paper has a value the preset has it too: Koskela and Kulkarni, "Practical Differentially Private
// Hyperparameter Tuning with Subsampling", Section "Experimental Results" and the appendices "Full
// Description of Experiments" and "Hyperparameter Tables". One value is not the paper's: accounting is
// best, whose bounds let the same training cost less; accounting paper gives the paper's epsilons.
package configs
