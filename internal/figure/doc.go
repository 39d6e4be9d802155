// Package figure computes and draws the accounting figures of the paper (Koskela and Kulkarni, "Practical
// Differentially Private Hyperparameter Tuning with Subsampling").
//
// [Bounds] is Figure compare_dp_bounds: epsilon as a function of the subset rate q, for both variants of
// private tuning, for the baseline that tunes on all of the data, and for one training run alone; one
// panel for each expected number of trials mu. Beside the paper's bounds it draws the tighter ones of
// package accountant. Where a bound doesn't depend on q its curve is level.
//
// [Lines] is Figure mnist_novel_x: the RDP curves of training runs and, for each, the smallest line c·alpha
// that is nowhere below it up to a given order. Random search draws candidates whose curves stay below
// such a line; the closer the curve to its line, the less that wastes.
//
// [Tradeoff] is a figure of ours: the noise that a budget leaves over the subset rate, where every candidate
// is to be tried with a given probability. Its numbers come from internal/experiment/planner.
//
// The others compute numbers with package accountant and nothing else. All describe a drawing as data: panels of
// curves, and a key. One renderer turns any drawing into PNG, SVG and PDF; a [Place] writes these and a CSV
// file with every number drawn.
//
// The drawings must survive a black and white printer: marker and dash pattern alone tell the curves apart,
// colour repeats what they say. The files hold no time stamp and, since text is drawn as filled outlines,
// no font: the same numbers give the same bytes, and every viewer shows the same picture.
package figure
