// Package paper knows what the paper's experiments show: Koskela and Kulkarni, "Practical Differentially Private
// Hyperparameter Tuning with Subsampling". [Figures] lists its figures, with the cells of a campaign that each needs.
// [Write] draws them from a campaign's results, on one HTML page. Whether what the paper says was seen is judged from
// the table of results, by bench/reproduction.
//
// # Privacy
//
// Numbers of trials and training times are private in general, and are shown here because the paper's data sets are
// public. They go to figures and tables in a campaign's folder, never to a run's released files. The page of a campaign
// with a seed says that its models guarantee nothing, and has no times: it can be repeated to the byte.
package paper
