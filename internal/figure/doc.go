// Package figure draws figures: of privacy costs, which [ComputeBounds], [ComputeLines] and [NewTradeoff] compute, and
// of what runs reached, which [NewComparison] is given. [TextTable] is a figure too. [Reserve] returns a [Place] in a
// folder, and [Place.Encode] and [Place.Write] write a [Figure] there as PNG, SVG and PDF, and its numbers as CSV.
// [Encode] makes the same files in memory, and [Inline] the pictures of a web page.
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
// [Tradeoff] isn't in the paper. As a function of the subset rate it shows the noise multiplier that meets a budget if
// every candidate is tried with a given probability. Package internal/experiment/planner computes its numbers.
//
// [Comparison] shows means with their standard errors, for several methods and accountings, in a grid of panels.
// Package internal/paper makes one for each figure of the paper that needs runs.
//
// The drawings are readable in black and white: markers and dash patterns distinguish the curves even without colours.
// The files contain no time stamp and, since text is drawn as filled outlines, no font: the same numbers give the same
// bytes, and every viewer shows the same picture.
package figure
