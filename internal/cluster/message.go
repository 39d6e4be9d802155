package cluster

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// Job is what one worker is to do.
type Job struct {
	ID    string // of the job, for good: a part of its subject
	Lane  string // of those workers that can do it; the server sees a keyed hash of it
	Group string // a worker does jobs of one group side by side
	Body  []byte // what is to be done
	// Secret is what only a worker that does the job may know. It isn't stored on the server.
	Secret []byte
}

// Format prints the job's name alone, whatever the verb: a secret mustn't get into a message.
func (j Job) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "job %s", j.ID) }

// digest returns a hash of what is to be done. The secret is only for that: a server may bring back an earlier message
// under the job's subject.
func (j Job) digest() []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s%s", len(j.Group), j.Group, j.Body))
	return sum[:]
}

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

// posted is a job's message.
type posted struct {
	Group string `json:"group"`
	Body  []byte `json:"body"`
}

// made is a result's message. A large body lies in messages of its own, which are there before this one.
type made struct {
	Worker  string `json:"worker"`
	Attempt string `json:"attempt"`        // a random name
	Body    []byte `json:"body,omitempty"` // if there are no parts
	Parts   int    `json:"parts,omitempty"`
}

// claim is what a worker says of itself when it asks for a job's secret or says hello.
type claim struct {
	Worker string `json:"worker"`
	Build  Build  `json:"build"`
	ID     string `json:"id,omitempty"`     // of the job; "" for a hello
	Body   []byte `json:"body,omitempty"`   // a hash of what the worker would do: see [Job.digest]
	Data   []byte `json:"data,omitempty"`   // a hash of the data that it would use
	Public []byte `json:"public,omitempty"` // of the key pair that the secret is sealed for
	Nonce  []byte `json:"nonce"`            // that the reply is bound to
	// Cannot is why the worker can't do the job; it wants no secret then.
	Cannot string `json:"cannot,omitempty"`
}

// grant is the reply.
type grant struct {
	Box     []byte  `json:"box,omitempty"` // the secret, sealed for the worker's process
	Refusal refusal `json:"refusal,omitempty"`
	Why     string  `json:"why,omitempty"`
}

// refusal says why a worker gets no secret.
type refusal string

const (
	otherBuild refusal = "build" // nothing of this campaign is for the worker
	otherData  refusal = "data"  // nor of this group
	notOut     refusal = "gone"  // the job has ended, or is another than the worker's
	notNow     refusal = "later" // the coordinator can't; another time it may
)

// Pulse is what a worker says of itself every few seconds.
type Pulse struct {
	Worker  string    `json:"worker"` // a random number
	Host    string    `json:"host"`
	Machine string    `json:"machine"` // what trains
	Build   Build     `json:"build"`
	Lanes   []string  `json:"lanes"` // as the server knows them
	Batch   int       `json:"batch"` // jobs that it does at once
	Jobs    []string  `json:"jobs"`  // that it does now
	Share   float64   `json:"share"` // of them that is done, from 0 to 1
	Done    int       `json:"done"`  // jobs, since it was started
	Ending  bool      `json:"ending,omitempty"`
	Seen    time.Time `json:"-"` // by the one who received it
}

// printable returns a text without what a terminal would obey: names come from other machines.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}

// encode seals a message for a purpose, its subject or what it is.
func (s sealer) encode(purpose string, message any) ([]byte, error) {
	text, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	return s.seal(purpose, text), nil
}

// decode opens a message into a pointer. Nobody without the secret can make it fail otherwise than by [ErrSecret].
func (s sealer) decode(purpose string, sealed []byte, into any) error {
	text, err := s.open(purpose, sealed)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil { // unknown fields are another version's, which must be told so
		return fmt.Errorf("cluster: a message of another version of dptrain: %w", err)
	}
	return nil
}
