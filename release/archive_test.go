package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 11, 23, 12, 0, 1, 0, time.UTC)

// Whatever the order and the time zone, the same files give the same bytes, and come out as they went in.
func TestPackIsReproducible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		contents := rapid.MapOf(rapid.StringMatching(`[a-z]{1,3}(/[a-z.]{1,5}[a-z])?/x`), rapid.SliceOf(rapid.Byte())).Draw(t, "contents")
		var files []file
		for name, content := range contents {
			files = append(files, file{name, 0o644, content})
		}
		zipped := rapid.Bool().Draw(t, "zip")
		first, err := pack(zipped, "dptrain-v1", files, noon)
		if err != nil {
			t.Fatal(err)
		}
		rand.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		second, err := pack(zipped, "dptrain-v1", files, noon.In(time.FixedZone("x", 3600)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, second) {
			t.Fatal("another order gives other bytes")
		}
		got := unpack(t, zipped, first)
		if len(got) != len(contents) {
			t.Fatalf("%d files, want %d", len(got), len(contents))
		}
		for name, content := range contents {
			if back, ok := got["dptrain-v1/"+name]; !ok || !bytes.Equal(back, content) {
				t.Fatalf("%s came back as %q", name, back)
			}
		}
	})
}

// unpack reads an archive, and checks its times, modes and owners.
func unpack(t *rapid.T, zipped bool, content []byte) map[string][]byte {
	out := map[string][]byte{}
	last := ""
	add := func(name string, mode int64, at time.Time, r io.Reader) {
		if name <= last || mode != 0o644 || !at.Equal(noon) {
			t.Fatalf("%s after %s, mode %o, time %v", name, last, mode, at)
		}
		back, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		last, out[name] = name, back
	}
	if zipped {
		z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			add(f.Name, int64(f.Mode()), f.Modified, r)
		}
		return out
	}
	g, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if !g.ModTime.IsZero() || g.Name != "" {
		t.Fatalf("the gzip header has the time %v and the name %q", g.ModTime, g.Name)
	}
	for r := tar.NewReader(g); ; {
		h, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" || h.Typeflag != tar.TypeReg {
			t.Fatalf("%+v", h)
		}
		add(h.Name, h.Mode, h.ModTime, r)
	}
}

func TestPackRefuses(t *testing.T) {
	for name, files := range map[string][]file{
		"two files are called a": {{name: "a"}, {name: "b"}, {name: "a"}},
		`file "../a"`:            {{name: "../a"}},
		`file "/a"`:              {{name: "/a"}},
		`file "a\\b"`:            {{name: `a\b`}},
		`file ""`:                {{}},
	} {
		if _, err := pack(false, "x", files, noon); err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
	}
}

// The sums are those of FIPS 180-2's examples: "abc", and nothing.
func TestSumsFile(t *testing.T) {
	got := string(sumsFile(map[string][sha256.Size]byte{"b.zip": sha256.Sum256(nil), "a.tar.gz": sha256.Sum256([]byte("abc"))}))
	want := "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a.tar.gz\n" +
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  b.zip\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
