package page

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func mustWrite(t *testing.T, p Place, r Run) {
	t.Helper()
	if err := p.Check(true); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write([]Run{r}, []byte(opening+"public"), []byte(opening+"private")); err != nil {
		t.Fatal(err)
	}
}

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestPagesOfARun(t *testing.T) {
	dir := runFolder(t, "run", aRelease())
	p, err := PlaceOf(dir)
	if err != nil || p.Public != filepath.Join(dir, "report.html") || p.Private != filepath.Join(dir, "private", "report.html") {
		t.Fatalf("%+v, %v", p, err)
	}
	r := mustOpen(t, dir)
	for range 2 { // the second time ours are replaced
		mustWrite(t, p, r)
	}
	for path, want := range map[string]string{p.Public: "public", p.Private: "private"} {
		if content, err := os.ReadFile(path); err != nil || string(content) != opening+want {
			t.Errorf("%s: %q, %v", path, content, err)
		}
	}
	if runtime.GOOS != "windows" {
		if got := mode(t, p.Private); got != 0o600 {
			t.Errorf("mode %o", got)
		}
		// A page whose mode was widened is private again.
		if err := os.Chmod(p.Private, 0o644); err != nil {
			t.Fatal(err)
		}
		if mustWrite(t, p, r); mode(t, p.Private) != 0o600 {
			t.Error("the wider mode was kept")
		}
	}
	if _, err := PlaceOf(filepath.Join(dir, "released")); !errors.Is(err, ErrPlace) {
		t.Errorf("a copy of released/: %v", err)
	}
}

// If a script makes a report right after a run, the report's time is about the time of the run's end, which is private.
func TestPagesTellNoTime(t *testing.T) {
	dir := runFolder(t, "run", aRelease())
	p, err := PlaceOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	mustWrite(t, p, mustOpen(t, dir))
	day := time.Now().UTC().Truncate(24 * time.Hour)
	for _, path := range []string{dir, p.Public, p.Private, filepath.Join(dir, "private"), filepath.Join(dir, "released")} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if at := info.ModTime().UTC(); !at.Equal(at.Truncate(24*time.Hour)) || at.After(day) {
			t.Errorf("%s has the time %v", path, at)
		}
	}
}

func TestPlaceAt(t *testing.T) {
	dir := t.TempDir()
	p, err := PlaceAt(filepath.Join(dir, "all.html"))
	if err != nil || p.Private != filepath.Join(dir, "private", "all.html") {
		t.Fatalf("%+v, %v", p, err)
	}
	mustWrite(t, p, Run{day: time.Unix(1e9, 0)})
	if runtime.GOOS != "windows" && (mode(t, filepath.Dir(p.Private)) != 0o700 || mode(t, p.Private) != 0o600) {
		t.Errorf("modes %o and %o", mode(t, filepath.Dir(p.Private)), mode(t, p.Private))
	}
	for _, bad := range []string{"x.htm", ".html", "", "x"} {
		if _, err := PlaceAt(filepath.Join(dir, bad)); !errors.Is(err, ErrPlace) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if p, err := PlaceAt(filepath.Join(dir, "none", "x.html")); err != nil || !errors.Is(p.Check(true), ErrPlace) {
		t.Errorf("no such folder: %v, %v", err, p.Check(true))
	}
}

// Files that aren't pages of ours stay as they are.
func TestOthersAreRefused(t *testing.T) {
	ours := opening + "x"
	for name, make := range map[string]func(t *testing.T, p Place){
		"other page":    func(t *testing.T, p Place) { write(t, p.Public, "<!DOCTYPE html>\n<p>mine</p>") },
		"empty file":    func(t *testing.T, p Place) { write(t, p.Public, "") },
		"folder":        func(t *testing.T, p Place) { write(t, filepath.Join(p.Public, "x"), "") },
		"private page":  func(t *testing.T, p Place) { write(t, p.Private, "mine") },
		"private file":  func(t *testing.T, p Place) { write(t, filepath.Dir(p.Private), "mine") },
		"link":          func(t *testing.T, p Place) { write(t, p.Public+"2", ours); link(t, p.Public+"2", p.Public) },
		"dangling link": func(t *testing.T, p Place) { link(t, p.Public+"2", p.Public) },
		"private link":  func(t *testing.T, p Place) { link(t, filepath.Dir(p.Public), filepath.Dir(p.Private)) },
	} {
		p, err := PlaceAt(filepath.Join(t.TempDir(), "x.html"))
		if err != nil {
			t.Fatal(err)
		}
		make(t, p)
		if err := p.Check(true); !errors.Is(err, ErrExists) {
			t.Errorf("%s: check %v", name, err)
		}
		if _, err := p.Write(nil, []byte("a"), []byte("b")); !errors.Is(err, ErrExists) {
			t.Errorf("%s: write %v", name, err)
		}
	}
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Skip(err)
	}
}
