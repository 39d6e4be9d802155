// Package figure draws all charts, in print and on web pages: charts of privacy costs, which [ComputeBounds] and
// [ComputeLines] compute, and charts of runs' results, a [Comparison] or a [Learning]. [Encode] draws a [Figure] as
// PNG, SVG and PDF, with its numbers as CSV, and [Inline] as pictures of a page. [Write] writes the files.
//
// [Bounds] is Figure compare_dp_bounds of the paper (Koskela and Kulkarni, "Practical Differentially Private
// Hyperparameter Tuning with Subsampling"): epsilon over the subset rate q, for both variants of private tuning, for
// the baseline that tunes on all data, and for one training run alone. It has a panel for each expected number of
// trials mu, and shows the tighter bounds of package accountant beside the paper's.
//
// [Lines] is Figure mnist_novel_x: the RDP curves of training runs and, above each, the smallest line c·alpha up to a
// given order. Random search fits its candidates' curves below such a line and is charged the line; the gap between
// line and curve is wasted.
//
// [Comparison] shows means with their standard errors, for several methods and accountings, in a grid of panels.
// Package cmd/internal/reproduce/paper makes one for each figure of the paper that needs runs.
//
// The drawings are readable in black and white: markers and dash patterns distinguish the curves even without colours.
// The files contain no time stamp, and texts aren't outlines: the same numbers give the same bytes.
package figure
