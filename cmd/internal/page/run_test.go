package page

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpenReadsTheRelease(t *testing.T) {
	dir := runFolder(t, "first", aRelease())
	r := mustOpen(t, dir)
	if r.Name != "first" || r.Score == nil || r.Score.Value != 0.97831 || r.Parameters != 6 || r.Privacy.Samples != 60000 || r.Void {
		t.Errorf("%+v", r)
	}
	if len(r.Files) != 5 || r.Statement == "" || r.Hyperparameters.Steps != 1878 || r.Model.Classes[1] != "dog" {
		t.Errorf("files %v, a statement of %d bytes, %+v, %+v", r.Files, len(r.Statement), r.Hyperparameters, r.Model)
	}
	for _, f := range r.Files {
		content, err := os.ReadFile(filepath.Join(dir, "released", f.Name))
		if err != nil {
			t.Fatal(err)
		}
		if hash := sha256.Sum256(content); f.SHA256 != hex.EncodeToString(hash[:]) || f.Size != int64(len(content)) {
			t.Errorf("%s: %d bytes, %s", f.Name, f.Size, f.SHA256)
		}
	}
	// A copy of the folder released has the name of the folder around it.
	if c := mustOpen(t, filepath.Join(dir, "released")); c.Name != "first" || c.Privacy.Epsilon != r.Privacy.Epsilon {
		t.Errorf("copy: %+v", c)
	}
	if p, err := OpenPrivate(filepath.Join(dir, "released")); p != nil || err != nil {
		t.Errorf("a copy has private values: %v, %v", p, err)
	}
}

func TestManifest(t *testing.T) {
	dir := runFolder(t, "folder", aRelease())
	write(t, filepath.Join(dir, "run.json"), `{"version": 1, "name": "my run", "made_by": {"version": "v1", "nested": {}, "cores": 2}, "state": "finished", "unknown": []}`)
	if r := mustOpen(t, dir); r.Name != "my run" {
		t.Errorf("%s", r.Name)
	}
	for content, want := range map[string]string{
		`{"version": 2}`:                     "version 2",
		`{"version": 1}{}`:                   "after top-level value",
		`{"version": "one"`:                  "unexpected end",
		`{"version": 1, "state": "stopped"}`: "is stopped; give the folder of a finished run",
	} {
		write(t, filepath.Join(dir, "run.json"), content)
		if _, err := Open(dir); !errors.Is(err, ErrNoRun) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", content, err)
		}
	}
}

// An epsilon that is missing must not be shown as 0, and a void guarantee not as one that holds.
func TestOpenRefusesWhatStatesNoGuarantee(t *testing.T) {
	dir := runFolder(t, "run", aRelease())
	file := filepath.Join(dir, "released", "privacy.json")
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"{}", "null", "[]", "", `{"epsilon": 1e999}`, `{"epsilon": -1, "delta": 1e-5, "training_samples": 5, "bound": "x"}`,
		`{"epsilon": 1, "delta": 0, "training_samples": 5, "bound": "x"}`, `{"epsilon": 1, "delta": 1e-5, "bound": "x"}`, `{"delta": 1e-5, "training_samples": 5}`} {
		write(t, file, bad)
		if _, err := Open(dir); !errors.Is(err, ErrNoRun) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	write(t, file, string(good))
	for _, field := range []map[string]any{{"insecure_seed": true}, {"guarantee_holds": false}} {
		edit(t, file, field)
		if r := mustOpen(t, dir); !r.Void {
			t.Errorf("%v: not void", field)
		}
		if public, _ := pages(t, dir); !strings.Contains(public, "<strong>Void.</strong>") || strings.Contains(public, "times as likely, plus") {
			t.Errorf("%v: the page doesn't say that it is void", field)
		}
		write(t, file, string(good))
	}
	for name, dir := range map[string]string{"nothing": t.TempDir(), "no folder": filepath.Join(dir, "none"), "a file": file} {
		if _, err := Open(dir); !errors.Is(err, ErrNoRun) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A link in released/ could make the public page show a private file.
func TestOpenFollowsNoLink(t *testing.T) {
	for name, link := range map[string][2]string{
		"statement": {"released/STATEMENT.md", "../private/log.txt"},
		"privacy":   {"released/privacy.json", "../private/run.json"},
		"manifest":  {"run.json", "private/run.json"},
		"released":  {"released", "private"},
		"outside":   {"released/model.json", "/etc/hostname"},
		"device":    {"released/hyperparameters.json", "/dev/zero"},
	} {
		dir := runFolder(t, "run", aRelease())
		write(t, filepath.Join(dir, "private", "log.txt"), "canary")
		write(t, filepath.Join(dir, "private", "privacy.json"), `{"epsilon": 1, "delta": 1e-5, "training_samples": 5, "bound": "x"}`)
		path := filepath.Join(dir, link[0])
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(link[1], path); err != nil {
			t.Skip(err)
		}
		if _, err := Open(dir); !errors.Is(err, ErrNoRun) {
			t.Errorf("%s: %v", name, err)
		}
	}
	dir := runFolder(t, "run", aRelease())
	if err := os.Symlink("../private/run.json", filepath.Join(dir, "released", "extra")); err != nil {
		t.Skip(err)
	}
	for _, f := range mustOpen(t, dir).Files {
		if f.Name == "extra" && (f.SHA256 != "" || f.Size != 0) {
			t.Errorf("the hash of a linked file: %+v", f)
		}
	}
}
