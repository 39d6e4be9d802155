package cluster

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
)

// Job is a unit of work for one worker.
type Job struct {
	ID    string // part of the subjects of job and result; never changes
	Lane  string // names the workers that can do the job; part of its subject
	Group string // a worker does jobs of one group side by side
	Data  []byte // hash of its data; nil if the group's first worker decides
	Body  []byte // for the worker's Executor
	// Secret goes to the worker that does the job, and no stream has it.
	Secret []byte
}

// Format prints the job's id alone, whatever the verb: a secret mustn't get into a message.
func (j Job) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "job %s", j.ID) }

// Result is what came of a job.
type Result struct {
	ID   string // the job's
	Body []byte
}

// Build identifies a program. A worker does jobs of its own build alone.
type Build struct {
	Version  string `json:"version"` // in words
	Exact    bool   `json:"exact"`   // whether the version determines the sources
	Hash     string `json:"hash"`    // of the program's file
	Platform string `json:"platform"`
}

// same reports whether two builds are one file, or made of the same sources for different platforms.
func (b Build) same(other Build) bool {
	return b.Hash == other.Hash && b.Hash != "" ||
		b.Exact && other.Exact && b.Version == other.Version && b.Platform != other.Platform
}

func (b Build) String() string {
	return fmt.Sprintf("%s (%s, program %.8s)", b.Version, b.Platform, b.Hash)
}

// posted is the message that has a job.
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

// keyRequest asks for the secret of a job. Message is the hash of the job's message: if the job was posted again with
// other content, the old message mustn't be done with its secret.
type keyRequest struct {
	ID      string            `json:"id"`
	Message [sha256.Size]byte `json:"message"`
}

// keyReply has the secret of a job, unless it has ended.
type keyReply struct {
	Ended  bool   `json:"ended,omitempty"`
	Secret []byte `json:"secret,omitempty"`
}

// objectHeader names the object that has the body of a result whose message has no data.
const objectHeader = "Dptrain-Object"
