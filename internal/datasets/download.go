package datasets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// maxUnknown bounds a file whose size isn't published, in bytes.
const maxUnknown = 64 << 20

// download downloads f to path in the cache and opens it. The file is path + ".part" until its checksum is verified,
// and is then renamed, which is atomic. A later call resumes the part. A lock on the folder makes a second process
// wait for the file.
func (s *store) download(ctx context.Context, f file, path string) (*os.File, error) {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("make the cache folder: %w; or set %s", err, DirVariable)
	}
	lock := flock.New(filepath.Join(folder, ".lock"))
	if _, err := lock.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		return nil, fmt.Errorf("lock the cache folder %s: %w", folder, err)
	}
	defer lock.Close()
	if opened, err := f.open(path); err == nil {
		return opened, nil // another process has downloaded it
	}

	part, err := os.OpenFile(path+".part", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	defer part.Close()
	if err := s.fill(ctx, f, part); err != nil {
		if size, failed := part.Seek(0, io.SeekEnd); failed == nil && size == 0 { // nothing is left behind
			err = errors.Join(err, os.Remove(part.Name()))
		}
		return nil, err
	}
	if err := errors.Join(part.Sync(), part.Close()); err != nil {
		return nil, err
	}
	if err := os.Rename(part.Name(), path); err != nil {
		return nil, err
	}
	return f.open(path)
}

// addresses returns the URLs at which f is published.
func (s *store) addresses(f file) []string {
	urls := slices.Clone(f.urls)
	for _, mirror := range s.mirrors {
		urls = append(urls, mirror+f.name)
	}
	return urls
}

// fill downloads f to part, from one mirror after the other.
func (s *store) fill(ctx context.Context, f file, part *os.File) error {
	var reasons []string
	for _, url := range s.addresses(f) {
		err := s.fillFrom(ctx, url, f, part)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("download %s: %w", f.name, ctx.Err())
		case errors.As(err, new(*fs.PathError)):
			return fmt.Errorf("download %s: %w", f.name, err)
		}
		reasons = append(reasons, url+": "+err.Error())
	}
	return &kindError{ErrUnavailable, fmt.Sprintf(
		"%s is not in %s and no mirror gave it (%s); set %s to a folder that holds %s",
		f.name, strings.Join(s.folders(), " or "), strings.Join(reasons, "; "),
		DirVariable, s.substitutes(f))}
}

// substitutes lists the files that may replace f in a person's own folder, by paths below [DirVariable].
func (s *store) substitutes(f file) string {
	serve := s.info.Name + "/" + f.name
	if f.or != nil {
		serve += ", or " + s.info.Name + "/" + f.or.name
	}
	if f.tree != nil {
		serve += ", or the archive unpacked: " + s.info.Name + "/" + f.tree.name
	}
	return serve
}

// fillFrom downloads f from one URL, and continues at the end of part.
func (s *store) fillFrom(ctx context.Context, url string, f file, part *os.File) error {
	if err := s.request(ctx, url, f, part); err != nil {
		return err
	}
	if _, err := part.Seek(0, io.SeekStart); err != nil {
		return err
	}
	err := f.check(part)
	if wrong, ok := errors.AsType[*ChecksumError](err); ok {
		return errors.Join(errors.New(wrong.Want.differs(wrong.Sum)), part.Truncate(0)) // a wrong part can't be resumed
	}
	return err
}

var errStalled = errors.New("the connection stalled")

// request requests the rest of f and appends it to part. It returns nil when part has the size of f.
func (s *store) request(ctx context.Context, url string, f file, part *os.File) error {
	offset, err := part.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if offset > f.size { // as any part of a file of unknown size
		offset = 0
		if err := part.Truncate(0); err != nil {
			return err
		}
	}
	if offset == f.size && f.size > 0 {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alarm := time.AfterFunc(s.stall, func() { cancel(errStalled) })
	defer alarm.Stop()

	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	// The checksum is of the packed file, which the transport must not unpack.
	request.Header.Set("Accept-Encoding", "identity")
	if offset > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return cause(ctx, err)
	}
	defer response.Body.Close()

	switch response.StatusCode {
	case http.StatusOK:
		offset = 0 // the server sends the whole file
	case http.StatusPartialContent:
		if !strings.HasPrefix(response.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", offset)) {
			return fmt.Errorf("sends the range %q, want it from %d", response.Header.Get("Content-Range"), offset)
		}
	default:
		return fmt.Errorf("%d %s", response.StatusCode, http.StatusText(response.StatusCode))
	}
	size := f.size
	if size == 0 {
		size = response.ContentLength
		if size < 0 || size > maxUnknown {
			return fmt.Errorf("says that it has %d bytes, want up to %d", size, maxUnknown)
		}
	}
	if n := response.ContentLength; n >= 0 && offset+n != size {
		return fmt.Errorf("has %d bytes, want %d", offset+n, size)
	}

	if err := part.Truncate(offset); err != nil {
		return err
	}
	out := &meter{out: io.NewOffsetWriter(part, offset), progress: func(n int64) {
		alarm.Reset(s.stall)
		s.progress(Progress{Set: s.info.Name, Task: "downloading", File: f.name, Done: offset + n, Total: size})
	}}
	n, err := io.Copy(out, io.LimitReader(response.Body, size-offset))
	if err != nil {
		return cause(ctx, err)
	}
	if offset+n < size {
		return fmt.Errorf("ends after %d of %d bytes", offset+n, size)
	}
	return nil
}

// cause returns the part of an HTTP client's error that helps a person.
func cause(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errStalled) {
		return errStalled
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err // without the whole URL again
	}
	return err
}

// meter reports the number of bytes read through it.
type meter struct {
	out      io.Writer
	written  int64
	progress func(written int64)
}

func (m *meter) Write(p []byte) (int, error) {
	n, err := m.out.Write(p)
	m.written += int64(n)
	m.progress(m.written)
	return n, err
}
