// Package configs holds a preset for each experiment of the paper, as YAML that is meant to be read.
//
// layers/common.yaml explains all keys. A data set's file, such as mnist.yaml, adds its own values. Presets whose names
// contain -adam or -all, such as mnist-adam-all, add layers/adam.yaml and layers/all.yaml on top. Presets have the
// paper's values if it gives any: Koskela and Kulkarni, "Practical Differentially Private Hyperparameter Tuning with
// Subsampling", Section "Experimental Results" and the appendices "Full Description of Experiments" and "Hyperparameter
// Tables". One value differs: privacy.accounting is "best", whose bounds give the same training a smaller epsilon. The
// value "paper" gives the epsilons of the paper.
//
// "dptrain settings --preset mnist-all" prints a whole preset.
package configs

import "embed"

// Files has the data sets at its root. layers/common.yaml is the layer below them, and the other layers are above.
//
//go:embed *.yaml layers/*.yaml
var Files embed.FS
