// Package planner compares plans of private tuning that try every candidate often enough: call [Compare] for a table of
// plans, each with the noise and the work that it needs, and [Settings.Recommended] for the best of them.
//
// A trial draws its candidate from a grid at random, so it may happen that no trial draws the best candidate. With m
// candidates and K trials the probability of this is E (1-1/m)^K ([accountant.Missed]); for a Poisson K of mean 15 and
// nine learning rates it is 19 %. More trials reduce it and cost more privacy. For the same probability the cost
// depends on the distribution of K: a wider distribution costs less for each trial, but needs more trials, since a
// small K is likelier. Which distribution needs the least noise depends on the budget, the bounds and the subset rate
// q.
//
// For each distribution, m determines the minimum mean at which every candidate is tried often enough. For each method
// and q, the table has the minimum noise multiplier that meets the budget. The plan of minimum noise would mostly have
// q near 0. There tuning costs almost nothing, but it also finds nothing, because models trained on a handful of
// samples say little about learning rates. Privacy accounting can't weigh this, so the user gives the minimum of q that
// Recommended may return.
package planner
