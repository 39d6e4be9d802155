package term

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/dptrain/dptrain/cmd/internal/ui"
)

func TestAwaitReturnsWhatIsComputed(t *testing.T) {
	broken := errors.New("broken")
	for _, want := range []error{nil, broken} {
		got, err := Await(t.Context(), "counting", func() (int, error) { return 3, want })
		if got != 3 || err != want {
			t.Errorf("%d, %v, want 3, %v", got, err, want)
		}
	}
}

// An abandoned computation goes on, and shows and returns nothing.
func TestAwaitLeavesWhatDoesNotStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	release, ended := make(chan bool), make(chan bool)
	var shown []string
	_, err := Follow(ctx, nil, "counting", func(f *Follower) (int, error) {
		defer close(ended)
		f.Show(func() { shown = append(shown, "before") })
		f.Show(cancel)
		<-release
		f.Show(func() { shown = append(shown, "after") })
		return 3, nil
	})
	close(release)
	<-ended
	if code, _ := CodeOf(err); code != CodeInterrupted || err.Error() != "interrupted while counting" {
		t.Errorf("%v, exit code %d", err, code)
	}
	if len(shown) != 1 || shown[0] != "before" {
		t.Errorf("shown: %q", shown)
	}
}

// All reports are shown before the result is there.
func TestAwaitShowsInOrder(t *testing.T) {
	var shown []int
	_, err := Follow(t.Context(), nil, "counting", func(f *Follower) (int, error) {
		for i := range 100 {
			f.Show(func() { shown = append(shown, i) })
		}
		return 0, nil
	})
	if err != nil || len(shown) != 100 {
		t.Fatalf("%v, %d of 100 shown", err, len(shown))
	}
	for i, got := range shown {
		if got != i {
			t.Fatalf("shown: %v", shown)
		}
	}
}

func TestAwaitStartsNothingOnceInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Await(ctx, "counting", func() (int, error) {
		t.Error("it was started")
		return 3, nil
	})
	if !errors.Is(err, ErrInterrupted) {
		t.Error(err)
	}
}

// A computation that looks at the context itself is interrupted too, whichever is noticed first.
func TestAwaitSaysWhatWasInterrupted(t *testing.T) {
	for range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := Await(ctx, "counting", func() (int, error) {
			cancel()
			return 0, ctx.Err()
		})
		if !errors.Is(err, ErrInterrupted) {
			t.Fatal(err)
		}
	}
}

// What takes long is told, by its name and its duration, but with --quiet.
func TestAwaitTellsWhatTakesLong(t *testing.T) {
	for _, c := range []struct {
		terminal, quiet bool
		want            string
	}{
		{want: "accounting, for 10s now\naccounting, for 20s now\n"},
		{terminal: true, want: "\r\x1b[Kaccounting, for 2s now"},
		{quiet: true, terminal: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			var stderr bytes.Buffer
			on := &Terminal{Out: &Output{To: io.Discard}, Err: &stderr, Screen: ui.Screen{Terminal: c.terminal}, Quiet: c.quiet}
			ctx := on.Showing(t.Context())
			if _, err := Await(ctx, "soon", func() (int, error) { time.Sleep(time.Second); return 1, nil }); err != nil || stderr.Len() > 0 {
				t.Errorf("of what takes no time: %q, %v", stderr.String(), err)
			}
			if _, err := Await(ctx, "accounting", func() (int, error) { time.Sleep(25 * time.Second); return 1, nil }); err != nil {
				t.Error(err)
			}
			if got := stderr.String(); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Errorf("%+v: %q", c, got)
			}
			if c.terminal && c.want != "" && !strings.HasSuffix(stderr.String(), "now\r\x1b[K") {
				t.Errorf("it stays: %q", stderr.String())
			}
		})
	}
}

// Until it is awaited, a computation goes on after progress, which isn't shown, and stops at a note.
func TestPendingShowsNothing(t *testing.T) {
	events := make(chan string, 9)
	ctx := t.Context()
	var shown strings.Builder
	console := ui.NewOn(&shown, ui.Screen{Terminal: true}, logrus.InfoLevel)
	p := Begin(ctx, new(sync.WaitGroup), NewFollower(ctx, console), func(f *Follower) (int, error) {
		f.Progress(1, 2, "early")
		events <- "after progress"
		f.Show(func() { events <- "note" })
		events <- "after note"
		f.Progress(1, 2, "late")
		return 3, nil
	})
	if got := <-events; got != "after progress" {
		t.Error(got)
	}
	select {
	case got := <-events:
		t.Errorf("%q before it is awaited", got)
	case <-time.After(20 * time.Millisecond):
	}
	// In either order.
	if got, err := p.Await(ctx, "counting"); got != 3 || err != nil || len(<-events)+len(<-events) != len("note"+"after note") {
		t.Errorf("%d, %v", got, err)
	}
	if strings.Contains(shown.String(), "early") || !strings.Contains(shown.String(), "late") {
		t.Errorf("shown: %q", shown.String())
	}
}
