package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// hang is how long a test waits for events that take milliseconds.
const hang = time.Minute

// until waits until a condition holds.
func until(t testing.TB, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(hang); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// quiet and unseen discard what boards and connections tell.
func quiet(string) {}
func unseen(error) {}

// quietly returns w with functions that discard what it tells, unless the test gave its own.
func quietly(w Worker) Worker {
	w.Tell = quiet
	if w.Working == nil {
		w.Working = func([]Job, float64) {}
	}
	return w
}

var here = Build{Version: "dptrain v1", Exact: true, Hash: "aa", Platform: "linux/amd64"}

// embedded returns a server in a new folder.
func embedded(t testing.TB) *Server {
	t.Helper()
	s, err := Embed(t.TempDir(), "127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func connected(t testing.TB, f File) *Conn { return connectedWith(t, f, usual) }

func connectedWith(t testing.TB, f File, with timing) *Conn {
	t.Helper()
	c, err := connectWith(t.Context(), f, "test", unseen, with)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// hasher hashes bodies and secrets.
type hasher struct {
	does func(context.Context, Job) error
	data string
	did  atomic.Int64
}

func (c *hasher) Data(context.Context, Job) ([]byte, error) { return []byte(c.data), nil }

func (c *hasher) Do(ctx context.Context, jobs []Job, progress func(float64)) (out [][]byte, err error) {
	for _, j := range jobs {
		if c.does != nil {
			if err := c.does(ctx, j); err != nil {
				return nil, err
			}
		}
		out = append(out, outcome(j))
		c.did.Add(1)
		progress(1)
	}
	return out, ctx.Err()
}

func outcome(j Job) []byte {
	sum := sha256.Sum256(append(bytes.Clone(j.Body), j.Secret...))
	return sum[:]
}

func job(n int) Job {
	return Job{ID: fmt.Sprintf("job%d", n), Lane: "mnist", Group: "g", Body: []byte(fmt.Sprint("body", n)), Secret: []byte(fmt.Sprint("secret", n))}
}

func TestJobsAreDone(t *testing.T) {
	t.Parallel()
	s := embedded(t)
	b, err := connected(t, s.File).Board(t.Context(), "campaign", here, quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	const n = 50
	for i := range n {
		for range 2 {
			if err := b.Post(t.Context(), job(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	var all hasher
	for range 3 {
		c := connected(t, s.File)
		workers.Go(func() {
			_, err := c.Serve(ctx, quietly(Worker{Build: here, Lanes: []string{"imdb", "mnist"}, GroupSize: 4, Idle: -1}), &all)
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	start := time.Now()
	for seen := map[string]bool{}; len(seen) < n; {
		r, err := b.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if seen[r.ID] {
			t.Errorf("%s twice", r.ID)
		}
		seen[r.ID] = true
		if want := outcome(jobOf(r.ID)); !bytes.Equal(r.Body, want) {
			t.Errorf("%s: %x, want %x", r.ID, r.Body, want)
		}
		if err := b.Done(t.Context(), r.ID); err != nil {
			t.Fatal(err)
		}
	}
	t.Log(time.Since(start), all.did.Load())
	if all.did.Load() != n {
		t.Errorf("%d jobs were done, want %d", all.did.Load(), n)
	}
	stop()
	workers.Wait()
}

func jobOf(id string) Job {
	var n int
	fmt.Sscanf(id, "job%d", &n)
	return job(n)
}
