package ui

import "github.com/sirupsen/logrus"

// Secret is a kind of private fact, which no guarantee covers, and which standard error has in some places only. A
// run's private log has all of them, and standard output none, but for the commands whose results are private.
type Secret int

// The secrets. Scores of trials aren't among them: they are logged at level debug, for the private log and --verbose.
const (
	Cells  Secret = iota // of private rows, which an error cites
	Counts               // of private rows with something in common
	Trials               // their number, which failed, and the share of work that is done, which gives the number away
)

// shown says where standard error has a secret if --verbose isn't given, which shows all. The person who started the
// command watches a terminal; other output is kept where others may read it, such as a scheduler's log.
var shown = map[Secret]struct{ terminal, json bool }{
	Cells:  {terminal: true}, // JSON is made to be kept
	Counts: {terminal: true},
	Trials: {terminal: true, json: true}, // progress is for the person who waits
}

// Shown reports whether standard error has a secret: with --verbose or not, on a terminal or not, as JSON or as text.
func (s Secret) Shown(verbose, terminal, json bool) bool {
	return verbose || terminal && shown[s].terminal && (!json || shown[s].json)
}

// Shows reports whether the console has a secret.
func (c *Console) Shows(s Secret) bool {
	return s.Shown(c.level >= logrus.DebugLevel, c.screen.Terminal, c.json)
}
