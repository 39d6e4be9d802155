// Package coverage compares plans of private tuning that try every candidate often enough, by the noise that each leaves
// in the released model and by what it computes.
//
// A trial draws its candidate from a grid at random, so that any one of them, the best one too, may never be drawn: with
// m candidates in a share E (1-1/m)^K of all runs ([accountant.Missed]). With 15 Poisson trials over nine learning rates
// that is 19 %. More trials miss less and cost more privacy, and distributions of K pay differently for the same share:
// the wider ones cost less for each trial and need more trials, since what they miss they miss at small K. Which of them
// leaves the least noise depends on the budget, the bounds and the subset rate q.
//
// [Compare] answers with a table, not with an optimum. For each distribution the smallest mean that tries every candidate
// often enough follows from m alone. With it goes, for each method and q, the smallest noise multiplier that meets the
// budget. Noise alone would mostly drive q to 0, where the tuning costs nothing and tells nothing, since a model that is
// trained on a handful of samples says little about learning rates. What q is worth is not a matter of privacy, so whoever plans
// says how small it may be, and [Settings.Least] keeps to that.
package planner
