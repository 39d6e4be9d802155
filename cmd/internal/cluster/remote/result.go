package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/internal/show"
	"github.com/dptrain/dptrain/internal/strict"
)

// Result is what came of a job. Machines send it as JSON, which has bytes in base64.
type Result struct {
	Run      string // the job's
	Failure  string // why it gave no model; empty if it gave one
	Machine  string // the worker's: engine, processor, cores
	Identity string // the run's: see [experiment.Plan.Identity]; private
	Unread   error  `json:"-"` // why all but Run couldn't be read; nil if it could

	// For a run that gave a model.
	Score    release.Score
	Released map[string][]byte // the files of released/, by their slash-separated names
	Private  []byte            // private/run.json
	Trials   []byte            // outcomes of trials, by tuner.MarshalOutcomes
}

// The maximum sizes of a result, far above every model that can be trained.
const (
	maxResult = 1 << 30 // bytes of all contents together
	maxFiles  = 100     // in released/
)

// Marshal encodes a result that passes Check.
func (r Result) Marshal() ([]byte, error) {
	if err := r.Check(); err != nil {
		return nil, fmt.Errorf("encode a result: %w", err)
	}
	return json.Marshal(r)
}

// UnmarshalResult decodes a result. It takes nothing that Marshal doesn't write.
func UnmarshalResult(text []byte) (r Result, err error) {
	const most = maxResult/3*4 + 1<<20 // base64, and the rest
	if len(text) > most {
		return Result{}, fmt.Errorf("decode a result: %d bytes; at most %d are read", len(text), most)
	}
	if err := strict.Decode(text, &r); err != nil {
		return Result{}, fmt.Errorf("decode a result: %w", err)
	}
	again, err := r.Marshal()
	if err == nil && !bytes.Equal(again, text) {
		err = errors.New("it isn't as Marshal writes it; run the same version everywhere")
	}
	if err != nil {
		return Result{}, fmt.Errorf("decode a result: %w", err)
	}
	return r, nil
}

// Check returns an error for a result that no honest worker makes: file names that lead out of a folder, texts that a
// terminal would obey, too much of anything, or neither a model nor a failure. One that can't be read is such a one.
func (r Result) Check() error {
	if r.Unread != nil {
		return r.Unread
	}
	if !isID(r.Run) {
		return fmt.Errorf("run %.40q: want an id of at most %d letters and digits", r.Run, maxID)
	}
	for _, t := range []struct {
		what, text string
		most       int
	}{{"machine", r.Machine, maxName}, {"identity", r.Identity, maxName}, {"metric", string(r.Score.Metric), maxName}, {"failure", r.Failure, maxText}} {
		if !isLine(t.text, t.most) {
			return fmt.Errorf("run %s: %s: want a line of at most %d bytes", r.Run, t.what, t.most)
		}
	}
	some := len(r.Released) > 0 || len(r.Private) > 0
	switch all := len(r.Released) > 0 && len(r.Private) > 0; {
	case r.Failure != "" && (some || r.Score != release.Score{}):
		return fmt.Errorf("run %s: a failure and a model", r.Run)
	case r.Failure == "" && !all && (some || len(r.Trials) == 0):
		return fmt.Errorf("run %s: neither a whole model nor a failure", r.Run)
	}
	if v := r.Score.Value; math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("run %s: a score of %v", r.Run, v)
	}
	return r.checkFiles()
}

func (r Result) checkFiles() error {
	if len(r.Released) > maxFiles {
		return fmt.Errorf("run %s: %d released files; at most %d are taken", r.Run, len(r.Released), maxFiles)
	}
	size := len(r.Private) + len(r.Trials)
	for name, content := range r.Released {
		if !isLocal(name) {
			return fmt.Errorf("run %s: %.40q is no name of a released file", r.Run, name)
		}
		size += len(content)
	}
	if size > maxResult {
		return fmt.Errorf("run %s: %d bytes; at most %d are taken", r.Run, size, maxResult)
	}
	return nil
}

// isLocal reports whether a name stays in its folder, on every platform.
func isLocal(name string) bool {
	return fs.ValidPath(name) && isLine(name, maxName) && name[0] != '.' && !strings.Contains(name, "/.") && !strings.ContainsAny(name, `\:`)
}

// isLine reports whether a text is one printable line.
func isLine(text string, most int) bool {
	return len(text) <= most && show.Printable(text) == text
}

// line makes a printable line of a text.
func line(text string, most int) string {
	text = show.Printable(text)
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return text
}
