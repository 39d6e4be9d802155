// Package planner compares plans of private tuning that try every candidate often enough: call [Compare] for a table of
// plans, by the noise that each needs and the work that it takes, and [Settings.Recommended] for the best of them.
//
// A trial draws its candidate from a grid at random, so that a given one, even the best, may never be drawn: with m
// candidates and K trials that happens with probability E (1-1/m)^K ([accountant.Missed]), for 15 Poisson trials over
// nine learning rates in 19 % of runs. More trials miss less and cost more privacy. Distributions of K pay
// differently for the same probability: wider ones cost less for each trial and need more trials, as they miss at small
// K. Which of them needs the minimum noise depends on the budget, the bounds and the subset rate q.
//
// For each distribution, the minimum mean that tries every candidate often enough follows from m alone. For each method
// and q, the table has the minimum noise multiplier that meets the budget. Noise alone would mostly drive q to 0, where
// tuning costs nothing and finds nothing, since a model that is trained on a handful of samples says little about
// learning rates. The value of a larger q is not a matter of privacy, so a person gives the minimum q, and Recommended
// keeps to it.
package planner
