// Package paper knows what the paper's experiments show: Koskela and Kulkarni, "Practical Differentially Private
// Hyperparameter Tuning with Subsampling". [Figures] lists its figures, with the cells of a campaign that each needs,
// and [Tables] its tables. From a campaign's results the package draws them, compares them with what the paper says,
// and writes one HTML page.
package paper
