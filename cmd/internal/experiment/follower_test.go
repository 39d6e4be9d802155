package experiment

import "github.com/dptrain/dptrain/tuner"

// silent is a follower that ignores all reports.
type silent struct{}

func (silent) Note(string)                       {}
func (silent) Warn(string)                       {}
func (silent) Progress(float64, float64, string) {}
func (silent) Tuning(tuner.PrivateProgress)      {}
