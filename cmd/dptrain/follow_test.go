package main

import (
	"context"
	"errors"
	"testing"
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
