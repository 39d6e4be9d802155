// Package settings reads the settings of an experiment. [Resolve] puts a settings file and overrides of the form
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
// A preset consists of layers too, the YAML files of package configs.
package settings
