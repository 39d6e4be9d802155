package long

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"pgregory.net/rapid"
)

// Tests reports whether long tests run: $DPTRAIN_LONG is 1, as make test-all sets it.
func Tests() bool { return os.Getenv("DPTRAIN_LONG") == "1" }

// Times is the factor for the number of cases: 10 if long tests run.
func Times() int {
	if Tests() {
		return 10
	}
	return 1
}

// Leaves reports whether case i of a grid is left to make test-all: make test tries the first of each n cases, and with
// -short only case 0.
func Leaves(i, n int) bool {
	if testing.Short() {
		return i > 0
	}
	return i%n != 0 && !Tests()
}

// Only skips a test unless long tests run.
func Only(t testing.TB) {
	t.Helper()
	if !Tests() {
		t.Skip("make test-all runs it, or DPTRAIN_LONG=1")
	}
}

// SkipRace skips a test, for a reason, under the race detector, which makes it ten times slower.
func SkipRace(t testing.TB, why string) {
	t.Helper()
	if Race {
		t.Skip(why + ", and takes long under the race detector")
	}
}

// Check is [rapid.Check] with the given number of draws, times [Times], or with -short a fifth of it. Tests that call
// it don't run in parallel with others of their package that draw.
func Check(t *testing.T, draws int, property func(*rapid.T)) {
	t.Helper()
	if draws *= Times(); testing.Short() {
		draws = (draws + 4) / 5
	}
	number := flag.Lookup("rapid.checks")
	before := number.Value.String()
	defer func() { _ = number.Value.Set(before) }()
	if err := number.Value.Set(fmt.Sprint(draws)); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, property)
}
