package cpu

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/enginetest"
)

// Joined runs share all workers evenly, and the last run has them all.
func TestTeamIsDivided(t *testing.T) {
	for _, c := range []struct {
		size, runs int
		want       []int
	}{
		{1, 1, []int{1}}, {8, 1, []int{8}}, {8, 5, []int{2, 2, 2, 1, 1}}, {2, 2, []int{1, 1}}, {16, 15, append([]int{2}, slices.Repeat([]int{1}, 14)...)},
	} {
		hired := 0
		team := newTeam(c.size, func() *worker { hired++; return &worker{} })
		var crews []crew
		var got []int
		for range c.runs {
			team.join()
		}
		for range c.runs {
			lent, _ := team.borrow(c.size, 0)
			crews = append(crews, lent)
			got = append(got, len(crews[len(crews)-1]))
		}
		if !slices.Equal(got, c.want) || hired != c.size {
			t.Errorf("%d workers for %d runs: %v, %d hired; want %v", c.size, c.runs, got, hired, c.want)
		}
		// Shares stay the same, in any order of the steps' ends.
		for k := range crews {
			team.giveBack(crews[k])
			if crews[k], _ = team.borrow(100, 0); len(crews[k]) != c.want[k] {
				t.Errorf("%d workers for %d runs: run %d has %d after a step, before %d", c.size, c.runs, k, len(crews[k]), c.want[k])
			}
		}
		for k := range crews[1:] {
			team.giveBack(crews[k+1])
			team.leave()
		}
		team.giveBack(crews[0])
		if last, _ := team.borrow(100, 0); len(last) != c.size || hired != c.size {
			t.Errorf("the last of %d runs has %d of %d workers, %d hired", c.runs, len(last), c.size, hired)
		}
	}
}

// More runs than workers wait for each other, since two groups may step at once.
func TestTeamIsWaitedFor(t *testing.T) {
	team := newTeam(1, func() *worker { return &worker{} })
	team.join()
	team.join()
	if few, _ := team.borrow(0, 0); len(few) != 1 {
		t.Errorf("no work at all has %d workers", len(few))
	} else {
		team.giveBack(few)
	}
	first, _ := team.borrow(100, 0)
	got := make(chan int64, 3)
	ask := func(k int64) {
		go func() {
			c, _ := team.borrow(100, 0)
			got <- k
			team.giveBack(c)
		}()
		for team.waiting() < k {
			runtime.Gosched()
		}
	}
	for k := range int64(3) {
		ask(k + 1)
	}
	select {
	case <-got:
		t.Fatal("one worker was lent twice")
	default:
	}
	if team.waiting() != 3 {
		t.Error("a run isn't told that others wait")
	}
	team.giveBack(first)
	again, _ := team.borrow(100, 0) // comes last
	for k := range int64(3) {
		select {
		case c := <-got:
			if c != k+1 {
				t.Errorf("number %d came after %d others", c, k)
			}
		default:
			t.Error("a later borrower came first")
		}
	}
	team.giveBack(again)
}

// Two workers that come back together go to the two borrowers who wait. A run is told when another begins or ends.
func TestTeamServesAll(t *testing.T) {
	team := newTeam(2, func() *worker { return &worker{} })
	team.join()
	both, changes := team.borrow(2, 0)
	team.join()
	if team.changes.Load() == changes {
		t.Error("a run isn't told of another")
	}
	got := make(chan crew)
	for range 2 {
		go func() { c, _ := team.borrow(1, 0); got <- c }()
	}
	for team.waiting() < 2 {
		runtime.Gosched()
	}
	team.giveBack(both)
	for range 2 {
		if c := <-got; len(c) != 1 {
			t.Errorf("%d workers", len(c))
		}
	}
	changes = team.changes.Load()
	if team.leave(); team.changes.Load() == changes {
		t.Error("a run isn't told that another ended")
	}
}

// Workers that a run doesn't need go to other runs, and those are told once that there are more.
func TestTeamLeavesNoneIdle(t *testing.T) {
	team := newTeam(16, func() *worker { return &worker{} })
	team.join()
	team.join()
	large, before := team.borrow(100, 0)
	small, own := team.borrow(1, 0)
	if now := team.changes.Load(); len(large) != 8 || len(small) != 1 || now == before || now != own {
		t.Errorf("%d and %d workers; %d, %d and %d changes", len(large), len(small), before, own, now)
	}
	team.giveBack(large)
	if large, _ = team.borrow(100, 8); len(large) != 15 || team.changes.Load() != own {
		t.Errorf("%d workers, %d changes", len(large), team.changes.Load()-own)
	}
	team.giveBack(small)
	if small, own = team.borrow(1, 1); len(small) != 1 || team.changes.Load() != own {
		t.Error("the same share is told again")
	}
}

// Two groups of a loaded program alternate: neither waits for the other's last step.
func TestGroupsAlternate(t *testing.T) {
	p := enginetest.Zoo()["dropout"].Program(t, 1)
	l := must(New(Options{Workers: 1}).Load(p, enginetest.RandomData(p, 20, 1)))
	long, short := must(l.Start(wholeBatches(p))), must(l.Start(wholeBatches(p)))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- long.Steps(ctx, 1<<30) }()
	for long.Done()[0] == 0 {
		runtime.Gosched()
	}
	for range 20 {
		if err := short.Steps(t.Context(), 3); err != nil { // would never return
			t.Fatal(err)
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
