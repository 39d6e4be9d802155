package main

import (
	"bytes"
	"testing"

	"github.com/sirupsen/logrus"
)

// Package train logs by the standard logger that a model has to be trained one sample at a time.
func TestConsoleHasTheWarningsOfLibraries(t *testing.T) {
	var stderr bytes.Buffer
	g := &global{stderr: &stderr}
	g.console()
	logrus.Warn("slow")
	if got := stderr.String(); got != "warning: slow\n" {
		t.Errorf("got %q", got)
	}
}
