package datasets

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tarFile is an entry of an archive. Without a type it is a plain file.
type tarFile struct {
	name, contents string
	kind           byte
	claims         int64 // the size in the header, if not the contents' size
}

// tarball packs entries, compressed with gzip.
func tarball(t interface{ Fatal(...any) }, files ...tarFile) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Size: int64(len(f.contents)), Mode: 0o644, Typeflag: f.kind}
		switch f.kind {
		case 0:
			h.Typeflag = tar.TypeReg
		case tar.TypeSymlink, tar.TypeLink:
			h.Linkname, h.Size = f.contents, 0
		}
		if f.claims != 0 {
			h.Size = f.claims
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := io.WriteString(w, f.contents); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.Flush() // Close would report a wrong claim
	b.Write(make([]byte, 1024))
	return compress(b.Bytes())
}

// letters is a tree of small files.
var letters = &tree{
	name:   "letters",
	dirs:   []string{".", "more"},
	wanted: func(m string) bool { return strings.HasSuffix(m, ".txt") && strings.Count(m, "/") <= 1 },
}

// collect returns all members that each visits.
func collect(s *source) (map[string]string, error) {
	found := map[string]string{}
	err := s.each(context.Background(), func(member string, in io.Reader) error {
		contents, err := io.ReadAll(in)
		found[member] = string(contents)
		return unpackedError(err)
	})
	return found, err
}

// pack returns the source of an archive with the given contents.
func pack(t testing.TB, tr *tree, archive []byte) *source {
	t.Helper()
	path := filepath.Join(t.TempDir(), "letters.tar.gz")
	if err := os.WriteFile(path, archive, 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return &source{tree: tr, path: "letters.tar.gz", archive: file}
}

// unpack returns the source of a folder with the given files.
func unpack(t testing.TB, tr *tree, files map[string]string) *source {
	t.Helper()
	dir := t.TempDir()
	writeTree(t, dir, files)
	return &source{tree: tr, path: dir}
}

func writeTree(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, contents := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(contents), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTree(t *testing.T) {
	want := map[string]string{"a.txt": "A", "more/b.txt": "B"}
	files := []tarFile{
		{name: "letters/", kind: tar.TypeDir},
		{name: "letters/more/b.txt", contents: "B"},
		{name: "letters/huge.bin", contents: "more than ten bytes"}, // no member, so not read
		{name: "letters/link", contents: "/etc/passwd", kind: tar.TypeSymlink},
		{name: "./letters/a.txt", contents: "A"},
		{name: "letters/more/deep/c.txt", contents: "C"},
	}
	got, err := collect(pack(t, letters, tarball(t, files...)))
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("archive: %v, error %v", got, err)
	}
	got, err = collect(unpack(t, letters, map[string]string{
		"a.txt": "A", "more/b.txt": "B", "huge.bin": "more than ten bytes", "more/deep/c.txt": "C", "less/d.txt": "D",
	}))
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("folder: %v, error %v", got, err)
	}
}

func TestTreeRefuses(t *testing.T) {
	good := tarFile{name: "letters/a.txt", contents: "A"}
	for _, c := range []struct {
		name    string
		archive []byte
		want    string
	}{
		{"empty", nil, "letters.tar.gz: unpack: the file ends here"},
		{"no gzip", []byte("letters, written on paper"), "unpack: gzip: invalid header"},
		{"no tar", compress([]byte(strings.Repeat("letters", 100))), "unpack: archive/tar: invalid tar header"},
		{"cut off", cut(tarball(t, good, tarFile{name: "letters/b.txt", contents: "BBBBBB"}), 20), "unpack: the file ends here"},
		{"claims more", compress(tarBytes(t, tarFile{name: "letters/a.txt", contents: "A", claims: 9})[:513]), "a.txt: unpack: the file ends here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := collect(pack(t, letters, c.archive))
			checkError(t, err, ErrInvalid, c.want)
		})
	}
}

// tarBytes returns an uncompressed archive.
func tarBytes(t *testing.T, f tarFile) []byte {
	a := tarball(t, f)
	unpacked, err := parseGzip(a)
	if err != nil {
		t.Fatal(err)
	}
	return unpacked
}

func TestVisitorStops(t *testing.T) {
	stop := errors.New("stop")
	for _, s := range []*source{
		pack(t, letters, tarball(t, tarFile{name: "letters/a.txt"})),
		unpack(t, letters, map[string]string{"a.txt": ""}),
	} {
		if err := s.each(t.Context(), func(string, io.Reader) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("error %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.each(ctx, nil); s.archive == nil && !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
}

// parseGzip unpacks a compressed file.
func parseGzip(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func unpackedError(err error) error {
	if err != nil {
		return unpackError(err)
	}
	return nil
}

func checkKind(t *testing.T, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, ErrInvalid) {
		t.Errorf("error %v is of no kind", err)
	}
}
