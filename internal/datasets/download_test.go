package datasets

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// blob is a file long enough to be cut off in the middle.
var blob = func() []byte {
	b := make([]byte, 300_000)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}()

// blobEntry returns a data set whose only file is the blob.
func blobEntry(mirrors ...string) *entry {
	sum := sha256.Sum256(blob)
	return &entry{
		info:    Info{Name: "blobs"},
		files:   []file{{name: "blob.gz", size: int64(len(blob)), sum: Checksum(sha256Prefix + hex.EncodeToString(sum[:]))}},
		mirrors: mirrors,
	}
}

// mirror is a server. The scripted handlers answer its first requests. All later requests get the blob, or the
// requested part of it.
type mirror struct {
	url    string
	mu     sync.Mutex
	script []http.HandlerFunc
	ranges []string // the Range header of each request
}

func newMirror(t *testing.T, script ...http.HandlerFunc) *mirror {
	m := &mirror{script: script}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.url = server.URL + "/"
	return m
}

func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	m.ranges = append(m.ranges, r.Header.Get("Range"))
	answer := serveBlob
	if len(m.script) > 0 {
		answer, m.script = m.script[0], m.script[1:]
	}
	m.mu.Unlock()
	answer(w, r)
}

func (m *mirror) requests(t *testing.T, want ...string) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if strings.Join(m.ranges, "|") != strings.Join(want, "|") {
		t.Errorf("requests with the ranges %q, want %q", m.ranges, want)
	}
}

func serveBlob(w http.ResponseWriter, r *http.Request) {
	http.ServeContent(w, r, "blob.gz", time.Time{}, bytes.NewReader(blob))
}

// cutOff promises the whole blob and sends the first n bytes.
func cutOff(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "300000")
		w.Write(blob[:n])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// stall sends the first n bytes and then nothing until the client goes away.
func stall(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "300000")
		w.Write(blob[:n])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

func send(b []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { w.Write(b) }
}

// noMirror is a URL where nothing listens.
func noMirror(t *testing.T) string {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	return server.URL + "/"
}

func options(t *testing.T) Options {
	t.Setenv(DirVariable, "")
	return Options{Cache: t.TempDir()}
}

// checkFetched checks that the blob is in the cache, and that only the lock remains of the download.
func checkFetched(t *testing.T, o Options) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(o.Cache, "blobs", "blob.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, blob) {
		t.Error("the cached file is not the one on the mirror")
	}
	checkAbsent(t, o, "blob.gz.part")
}

func checkAbsent(t *testing.T, o Options, name string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(o.Cache, "blobs", name)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is there (%v)", name, err)
	}
}

func writePart(t *testing.T, o Options, contents []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(o.Cache, "blobs"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFiles(t, filepath.Join(o.Cache, "blobs"), map[string][]byte{"blob.gz.part": contents})
}

func TestDownload(t *testing.T) {
	m, o := newMirror(t), options(t)
	var last Progress
	calls := 0
	o.Progress = func(p Progress) {
		if p.Set != "blobs" || p.File != "blob.gz" || p.Total != 300_000 || p.Done <= last.Done {
			t.Errorf("progress %+v after %+v", p, last)
		}
		last = p
		calls++
	}
	for range 2 { // the second time from the cache
		if err := blobEntry(m.url).fetch(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	checkFetched(t, o)
	m.requests(t, "")
	if last.Done != 300_000 || calls < 2 {
		t.Errorf("%d calls of Progress, the last with %+v", calls, last)
	}
}

func TestDownloadResumes(t *testing.T) {
	for _, c := range []struct {
		name   string
		part   []byte // left by an earlier call
		script []http.HandlerFunc
		ranges []string
	}{
		{"earlier part", blob[:250_000], nil, []string{"bytes=250000-"}},
		{"complete part", blob, nil, nil},
		{"part too long", append(bytes.Clone(blob), 1), nil, []string{""}},
		{"no ranges", blob[:1000], []http.HandlerFunc{send(blob)}, []string{"bytes=1000-"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, o := newMirror(t, c.script...), options(t)
			if c.part != nil {
				writePart(t, o, c.part)
			}
			if err := blobEntry(m.url).fetch(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			checkFetched(t, o)
			m.requests(t, c.ranges...)
		})
	}
}

// A part that an earlier call left is continued, or if it turns out to be wrong, is left out by the next call.
func TestNextCallResumes(t *testing.T) {
	for name, c := range map[string]struct {
		part   []byte
		script []http.HandlerFunc
		want   string
		ranges []string
	}{
		"cut off":                       {nil, []http.HandlerFunc{cutOff(100_000)}, "EOF", []string{"", "bytes=100000-"}},
		"part of another file":          {make([]byte, 1000), nil, "SHA-256 is ", []string{"bytes=1000-", ""}},
		"complete part of another file": {make([]byte, 300_000), nil, "SHA-256 is ", []string{""}},
	} {
		m, o := newMirror(t, c.script...), options(t)
		writePart(t, o, c.part)
		checkError(t, blobEntry(m.url).fetch(t.Context(), o), ErrUnavailable, c.want)
		if err := blobEntry(m.url).fetch(t.Context(), o); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		checkFetched(t, o)
		m.requests(t, c.ranges...)
	}
}

func TestDownloadStalled(t *testing.T) {
	m, o := newMirror(t, stall(50_000)), options(t)
	s, err := blobEntry(m.url).store(o)
	if err != nil {
		t.Fatal(err)
	}
	s.stall = 500 * time.Millisecond
	_, err = s.open(t.Context(), s.files[0])
	checkError(t, err, ErrUnavailable, errStalled.Error())
	if _, err := s.open(t.Context(), s.files[0]); err != nil {
		t.Fatal(err)
	}
	checkFetched(t, o)
	m.requests(t, "", "bytes=50000-")
}

func TestDownloadNextMirror(t *testing.T) {
	missing := newMirror(t, http.NotFound)
	wrong := newMirror(t, send(flip(bytes.Clone(blob), 7)))
	short := newMirror(t, send([]byte("<html>please log in</html>")))
	right, o := newMirror(t), options(t)
	if err := blobEntry(noMirror(t), missing.url, wrong.url, short.url, right.url).fetch(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	checkFetched(t, o)
	missing.requests(t, "")
	wrong.requests(t, "")
	short.requests(t, "")
	right.requests(t, "") // nothing of the wrong file was kept
}

func TestDownloadRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"wrong checksum", send(flip(bytes.Clone(blob), 7)), "SHA-256 is "},
		{"not found", http.NotFound, "404 Not Found"},
		{"too short", send([]byte("short")), "has 5 bytes, want 300000"},
		{"too long", func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Content-Length", "300001") }, "has 300001 bytes, want 300000"},
		{"ends early", func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush() // chunked: the length isn't announced
		}, "ends after 0 of 300000 bytes"},
		{"another range", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", "bytes 5-10/300000")
			w.WriteHeader(http.StatusPartialContent)
		}, `sends the range "bytes 5-10/300000", want it from 0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, o := newMirror(t, c.answer), options(t)
			err := blobEntry(m.url).fetch(t.Context(), o)
			checkError(t, err, ErrUnavailable, c.want)
			checkError(t, err, ErrUnavailable, "set DPTRAIN_DATA to a folder that holds blobs/blob.gz")
			checkAbsent(t, o, "blob.gz")
			checkAbsent(t, o, "blob.gz.part") // no right byte was received
		})
	}
}

func TestDownloadNoNetwork(t *testing.T) {
	o := options(t)
	err := blobEntry(noMirror(t), noMirror(t)).fetch(t.Context(), o)
	checkError(t, err, ErrUnavailable, "blobs: blob.gz is not in "+filepath.Join(o.Cache, "blobs")+" and no mirror gave it (http://127.0.0.1:")
	checkError(t, err, ErrUnavailable, "connection refused")
	checkError(t, err, ErrUnavailable, "set DPTRAIN_DATA to a folder that holds blobs/blob.gz")
	checkAbsent(t, o, "blob.gz")
	checkAbsent(t, o, "blob.gz.part")

	// Bytes received earlier are kept, for the next attempt.
	writePart(t, o, blob[:1000])
	err = blobEntry(noMirror(t)).fetch(t.Context(), o)
	checkError(t, err, ErrUnavailable, "connection refused")
	if info, err := os.Stat(filepath.Join(o.Cache, "blobs", "blob.gz.part")); err != nil || info.Size() != 1000 {
		t.Errorf("the part: %v, %v", info, err)
	}
}

// The error lists all files that would replace the download, by the paths where Open looks for them.
func TestDownloadOfWhatCanBeUnpacked(t *testing.T) {
	e := blobEntry(noMirror(t))
	e.files[0].tree, e.files[0].or = letters, &file{name: "blob.other"}
	err := e.fetch(t.Context(), options(t))
	checkError(t, err, ErrUnavailable, "a folder that holds blobs/blob.gz, or blobs/blob.other, or the archive unpacked: blobs/letters")
}

func TestDownloadCancelled(t *testing.T) {
	m, o := newMirror(t, stall(70_000)), options(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Progress = func(p Progress) {
		if p.Done == 70_000 {
			cancel()
		}
	}
	err := blobEntry(m.url).fetch(ctx, o)
	checkError(t, err, context.Canceled, "blobs: download blob.gz: ")
	checkAbsent(t, o, "blob.gz")

	o.Progress = nil
	if err := blobEntry(m.url).fetch(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	checkFetched(t, o)
	m.requests(t, "", "bytes=70000-")
}

// Two processes that want the same file at the same time download it once. (A lock of flock belongs to the open file,
// so two callers in one process act like two processes.)
func TestDownloadTwice(t *testing.T) {
	held := make(chan struct{})
	m, o := newMirror(t, func(w http.ResponseWriter, r *http.Request) {
		close(held)
		time.Sleep(50 * time.Millisecond)
		serveBlob(w, r)
	}), options(t)
	first := make(chan error, 1)
	go func() { first <- blobEntry(m.url).fetch(t.Context(), o) }()
	<-held
	err := errors.Join(blobEntry(m.url).fetch(t.Context(), o), <-first)
	if err != nil {
		t.Fatal(err)
	}
	checkFetched(t, o)
	m.requests(t, "")
}

func TestDownloadReplacesDamagedCache(t *testing.T) {
	m, o := newMirror(t), options(t)
	folder := filepath.Join(o.Cache, "blobs")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	writeFiles(t, folder, map[string][]byte{"blob.gz": blob[:9]})
	if err := blobEntry(m.url).fetch(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	checkFetched(t, o)
}

func TestDownloadNowhereToWrite(t *testing.T) {
	m, o := newMirror(t), options(t)
	o.Cache = filepath.Join(o.Cache, "taken")
	if err := os.WriteFile(o.Cache, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := blobEntry(m.url).fetch(t.Context(), o)
	var path *os.PathError
	if !errors.As(err, &path) || !strings.Contains(err.Error(), "set DPTRAIN_DATA") {
		t.Errorf("error %v", err)
	}
	m.requests(t)
}

func TestDownloadMD5(t *testing.T) {
	sum := md5.Sum(blob)
	for _, c := range []struct {
		name string
		sent []byte
		want string // error
	}{
		{"right", blob, ""},
		{"wrong", flip(bytes.Clone(blob), 7), "MD5 is "},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, o := newMirror(t, send(c.sent)), options(t)
			e := blobEntry()
			e.files[0].sum = Checksum(md5Prefix + hex.EncodeToString(sum[:]))
			e.files[0].urls = []string{m.url + "elsewhere/blob"} // an address of its own
			err := e.fetch(t.Context(), o)
			m.requests(t, "")
			if c.want != "" {
				checkError(t, err, ErrUnavailable, c.want)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			checkFetched(t, o)
			files, err := e.verifyFiles(t.Context(), o)
			if err != nil || files[0].State != OK || files[0].Sum != e.files[0].sum {
				t.Errorf("status %+v, error %v", files, err)
			}
		})
	}
}

// For some files only the first digits of the checksum are published, and no size.
func TestDownloadUnknownSize(t *testing.T) {
	unsized := func(mirror string) *entry {
		e := blobEntry(mirror)
		e.files[0].size = 0
		e.files[0].sum = e.files[0].sum[:len(sha256Prefix)+8]
		return e
	}
	for _, c := range []struct {
		name   string
		part   []byte
		script []http.HandlerFunc
		ranges []string
	}{
		{"whole", nil, nil, []string{""}},
		{"earlier part", blob[:1000], nil, []string{""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, o := newMirror(t, c.script...), options(t)
			if c.part != nil {
				writePart(t, o, c.part)
			}
			if err := unsized(m.url).fetch(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			checkFetched(t, o)
			m.requests(t, c.ranges...)
		})
	}
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"wrong", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "300000")
			w.Write(flip(bytes.Clone(blob), 7))
		}, "SHA-256 is "},
		{"no size", func(w http.ResponseWriter, r *http.Request) { w.(http.Flusher).Flush() }, "says that it has -1 bytes, want up to 67108864"},
		{"huge", func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Content-Length", "67108865") }, "says that it has 67108865 bytes"},
		{"empty", send(nil), "SHA-256 is "},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, o := newMirror(t, c.answer), options(t)
			checkError(t, unsized(m.url).fetch(t.Context(), o), ErrUnavailable, c.want)
			checkAbsent(t, o, "blob.gz")
		})
	}
}

// An equivalent file in the person's own folder replaces a download.
func TestDownloadNeedless(t *testing.T) {
	m, o := newMirror(t), options(t)
	e := blobEntry(m.url)
	// The sum of "abc".
	e.files[0].or = &file{name: "blob.bin", size: 3, sum: sha256Prefix + "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}
	o.Dir = t.TempDir()
	writeTree(t, filepath.Join(o.Dir, "blobs"), map[string]string{"blob.bin": "abc"})
	if err := e.fetch(t.Context(), o); err != nil {
		t.Error(err)
	}
	files, err := e.verifyFiles(t.Context(), o)
	if err != nil || files[0].State != OK || files[0].Name != "blob.bin" {
		t.Errorf("status %+v, error %v", files, err)
	}
	writeTree(t, filepath.Join(o.Dir, "blobs"), map[string]string{"blob.bin": "ab"})
	checkError(t, e.fetch(t.Context(), o), ErrInvalid, "blob.bin: SHA-256 is ")
	m.requests(t)
}

// An unpacked archive replaces a download.
func TestDownloadNeedlessUnpacked(t *testing.T) {
	m, o := newMirror(t), options(t)
	e := tinyCIFAREntry(t)
	e.mirrors = []string{m.url}
	o.Dir = t.TempDir()
	writeTree(t, filepath.Join(o.Dir, "tiny-cifar", "cifar-10-batches-bin"), tinyCIFARFiles())
	if err := e.fetch(t.Context(), o); err != nil {
		t.Error(err)
	}
	m.requests(t)
}

// All addresses are HTTP URLs.
func TestAddresses(t *testing.T) {
	for _, e := range everything() {
		for _, f := range e.files {
			addresses := slices.Clone(f.urls)
			for _, mirror := range e.mirrors {
				addresses = append(addresses, mirror+f.name)
			}
			if len(addresses) == 0 {
				t.Errorf("%s: %s has no address", e.info.Name, f.name)
			}
			for _, address := range append(addresses, e.info.Source) {
				if u, err := url.Parse(address); err != nil || u.Host == "" || !strings.HasPrefix(u.Scheme, "http") {
					t.Errorf("%s: address %q, error %v", e.info.Name, address, err)
				}
			}
			digits := len(f.sum.hex())
			if want := 2 * f.sum.hash().Size(); digits != want && (f.size != 0 || digits < 8) {
				t.Errorf("%s: the checksum of %s has %d digits, want %d", e.info.Name, f.name, digits, want)
			}
		}
	}
}
