package cluster

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// Job is what one worker is to do.
type Job struct {
	ID    string // of the job, for good: a part of its subject
	Lane  string // of the workers that can do it: a part of its subject
	Group string // a worker does jobs of one group side by side
	Data  []byte // hash of its data; nil if the group's first worker decides
	Body  []byte // what is to be done
	// Secret is for the worker that does the job alone. No stream has it.
	Secret []byte
}

// Format prints the job's name alone, whatever the verb: a secret mustn't get into a message.
func (j Job) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "job %s", j.ID) }

// Result is what came of a job.
type Result struct {
	ID     string
	Body   []byte
	Worker string // who did it
}

// Build is a program, as workers and coordinators compare each other's.
type Build struct {
	Version  string `json:"version"` // in words
	Exact    bool   `json:"exact"`   // the version names the sources
	Hash     string `json:"hash"`    // of the program's file
	Platform string `json:"platform"`
}

// same reports whether two builds do the same: they are one file, or made of the same sources for different platforms.
func (b Build) same(other Build) bool {
	if b.Hash == other.Hash && b.Hash != "" {
		return true
	}
	return b.Exact && other.Exact && b.Version == other.Version && b.Platform != other.Platform
}

func (b Build) String() string {
	return fmt.Sprintf("%s (%s, program %.8s)", b.Version, b.Platform, b.Hash)
}

// posted is a job's message.
type posted struct {
	Build Build  `json:"build"`
	Group string `json:"group"`
	Data  []byte `json:"data,omitempty"`
	Body  []byte `json:"body"`
}

// message encodes a job without its secret.
func (j Job) message(b Build) ([]byte, error) {
	return json.Marshal(posted{b, j.Group, j.Data, j.Body})
}

// keyRequest asks for the secret of a job. Message is the hash of the job's message: two messages of one job mustn't be
// done with one secret.
type keyRequest struct {
	ID      string            `json:"id"`
	Message [sha256.Size]byte `json:"message"`
}

// keyReply has the secret, unless the job has ended.
type keyReply struct {
	Ended  bool   `json:"ended,omitempty"`
	Secret []byte `json:"secret,omitempty"`
}

// The headers of a result's message. Its data are the result's body, or nothing if an object has the body.
const (
	workerHeader = "Dptrain-Worker"
	objectHeader = "Dptrain-Object"
)

// printable replaces what a terminal would obey by spaces: names come from other machines.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}
