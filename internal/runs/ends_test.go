package runs

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// The states that outlive a run are in private/end, for the owner alone. The key and the other states are gone.
func TestFinishKeepsEnds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r := create(t, dir)
	must(t, r.KeepKey([]byte("secret")), r.Save("state-0", []byte("last")), r.Save("trace-0", []byte("t")))
	r.Ends = []string{"state-0", "missing"}
	must(t, r.Train(), r.Finish([]byte("{}"), release))
	if got, err := ReadEnd(dir, "state-0"); err != nil || string(got) != "last" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := ReadEnd(dir, "trace-0"); err != nil || got != nil {
		t.Errorf("a state that wasn't named: %q, %v", got, err)
	}
	all := tree(t, dir)
	if all["private/end"].Perm() != 0o700 || all["private/end/state-0"].Perm() != 0o600 {
		t.Errorf("permissions %v", all)
	}
	for _, gone := range []string{"key", "state"} {
		if exists(filepath.Join(dir, "private", gone)) {
			t.Errorf("private/%s is left", gone)
		}
	}
	must(t, os.Remove(filepath.Join(dir, "private", "end", "state-0")), os.Symlink(filepath.Join(dir, "run.json"), filepath.Join(dir, "private", "end", "state-0")))
	if _, err := ReadEnd(dir, "state-0"); err == nil {
		t.Error("a link is read")
	}
}

// A run whose states aren't named keeps none.
func TestFinishKeepsNoOtherEnds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r := create(t, dir)
	must(t, r.Save("state-0", []byte("last")), r.Train(), r.Finish([]byte("{}"), release))
	var mode fs.FileMode
	if mode = tree(t, dir)["private/end"]; mode != 0 {
		t.Errorf("private/end has mode %v", mode)
	}
}
