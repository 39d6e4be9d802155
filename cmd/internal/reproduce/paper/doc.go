// Package paper knows what the paper's experiments show: Koskela and Kulkarni, "Practical Differentially Private
// Hyperparameter Tuning with Subsampling". [Figures] lists its figures, with the cells of a campaign that each needs.
// [Write] draws them from a campaign's results, compares them with what the paper says, and writes one HTML page.
//
// A [Claim] is a sentence of the paper, and an [Outcome] its verdict by one accounting. Which of two means is larger is
// judged by their difference with Welch's interval, a number by a ratio of means with Fieller's. A [Verdict] follows
// from the intervals alone: an interval that contains both the claim and its opposite leaves it open. If the paper says
// something of all cases, all comparisons must agree, and one that disagrees, even allowing for their number, refutes
// the claim. If the paper says it overall, the mean of all comparisons decides.
//
// # Privacy
//
// Numbers of trials and training times are private in general, and are shown here because the paper's data sets are
// public. They go to figures and tables in a campaign's folder, never to a run's released files. The page of a campaign
// with a seed says that its models guarantee nothing, and has no times: it can be repeated to the byte.
package paper
