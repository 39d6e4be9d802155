package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAwaitReturnsWhatIsComputed(t *testing.T) {
	broken := errors.New("broken")
	for _, want := range []error{nil, broken} {
		got, err := await(t.Context(), "counting", func() (int, error) { return 3, want })
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
	_, err := follow(ctx, nil, "counting", func(f *follower) (int, error) {
		defer close(ended)
		f.show(func() { shown = append(shown, "before") })
		f.show(cancel)
		<-release
		f.show(func() { shown = append(shown, "after") })
		return 3, nil
	})
	close(release)
	<-ended
	if exitCode(err) != codeInterrupted || err.Error() != "interrupted while counting" {
		t.Errorf("%v, exit code %d", err, exitCode(err))
	}
	if len(shown) != 1 || shown[0] != "before" {
		t.Errorf("shown: %q", shown)
	}
}

// All reports are shown before the result is there.
func TestAwaitShowsInOrder(t *testing.T) {
	var shown []int
	_, err := follow(t.Context(), nil, "counting", func(f *follower) (int, error) {
		for i := range 100 {
			f.show(func() { shown = append(shown, i) })
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
	_, err := await(ctx, "counting", func() (int, error) {
		t.Error("it was started")
		return 3, nil
	})
	if !errors.Is(err, errInterrupted) {
		t.Error(err)
	}
}

// A computation that looks at the context itself is interrupted too, whichever is noticed first.
func TestAwaitSaysWhatWasInterrupted(t *testing.T) {
	for range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := await(ctx, "counting", func() (int, error) {
			cancel()
			return 0, ctx.Err()
		})
		if !errors.Is(err, errInterrupted) {
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
			g := &global{stdout: &checkedWriter{to: io.Discard}, stderr: &stderr, terminal: c.terminal, quiet: c.quiet}
			ctx := shownBy(t.Context(), g)
			if _, err := await(ctx, "soon", func() (int, error) { time.Sleep(time.Second); return 1, nil }); err != nil || stderr.Len() > 0 {
				t.Errorf("of what takes no time: %q, %v", stderr.String(), err)
			}
			if _, err := await(ctx, "accounting", func() (int, error) { time.Sleep(25 * time.Second); return 1, nil }); err != nil {
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
