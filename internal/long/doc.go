// Package long divides the tests: make test runs what finds most faults in minutes, and make test-all everything. Tests
// that only make test-all runs call [Only], and those that look at more cases there multiply them by [Times] or call
// [Check]. Under the race detector tests run that do things side by side; others call [SkipRace].
package long
