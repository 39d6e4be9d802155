// Package long divides the tests: make test runs, in minutes, the tests that find most faults, and make test-all runs
// everything. Tests that only make test-all runs call [Only]. Tests that try more cases there multiply them by [Times]
// or call [Check]. Under the race detector only tests of concurrency run; others call [SkipRace].
package long
