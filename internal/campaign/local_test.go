package campaign

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/internal/runs"
)

// Whatever fails and in whatever order batches are reported: each task is handed out until it succeeds, at most twice,
// single runs after their baselines, and batches are of one kind and not too large.
func TestLocalHandsOutEachTask(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tasks []Task
		for r := range rapid.IntRange(1, 4).Draw(t, "repetitions") {
			for _, dataset := range []string{"mnist", "imdb"}[:rapid.IntRange(1, 2).Draw(t, "data sets")] {
				for _, m := range []Method{Variant1, Single, Baseline} { // a single run may come before its baseline
					tasks = append(tasks, Task{Cell{dataset, "dp-sgd", Rate, m, "paper", 1}, r + 1})
				}
			}
		}
		if rapid.Bool().Draw(t, "orphan") {
			tasks = append(tasks, Task{Cell{"mnist", "dp-sgd", Rate, Single, "best", 1}, 1})
		}
		tasks = append(tasks, tasks[0])
		scan := Scan{map[Task]Result{}, map[Task]runs.Info{}, map[Task]runs.Info{}, map[Task]bool{}}
		mayFail := map[Task]int{} // how often a task fails
		finished, lost := map[Task]bool{}, map[Task]bool{}
		for _, task := range tasks {
			switch rapid.IntRange(0, 5).Draw(t, "state of "+task.Name()) {
			case 0:
				scan.Finished[task] = Result{Task: task}
				finished[task] = true
			case 1:
				mayFail[task] = 1
			case 2:
				mayFail[task] = 2
			case 3:
				scan.Failed[task] = runs.Info{}
				mayFail[task] = rapid.IntRange(0, 1).Draw(t, "again")
			}
		}
		for task := range scan.Failed { // a task has one state
			delete(scan.Finished, task)
			delete(finished, task)
			if rapid.Bool().Draw(t, "twice") {
				scan.Repeated[task] = true
			}
		}
		const size = 2
		q := NewLocal(tasks, scan, func(Cell) int { return size })
		handed := map[Task]int{}
		var out []Batch
		for {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			if len(out) > 0 {
				cancel() // Next waits for what is handed out, or has something at once
			}
			batch, err := q.Next(ctx)
			cancel()
			switch {
			case err == nil:
				if len(batch) == 0 || len(batch) > size {
					t.Fatalf("a batch of %d", len(batch))
				}
				for _, task := range batch {
					handed[task]++
					if task.group() != batch[0].group() || finished[task] || lost[task] {
						t.Fatalf("%s in a batch of %s", task.Name(), batch[0].Name())
					}
					if task.Method == Single && !finished[task.Of(Baseline)] {
						t.Fatalf("%s before its baseline", task.Name())
					}
				}
				out = append(out, batch)
				if rapid.Bool().Draw(t, "another first") {
					continue
				}
			case errors.Is(err, ErrDrained):
				if len(out) > 0 {
					t.Fatal("drained before all is reported")
				}
			case !errors.Is(err, context.Canceled):
				t.Fatal(err)
			}
			if len(out) == 0 {
				break
			}
			k := rapid.IntRange(0, len(out)-1).Draw(t, "reported")
			outcomes := make([]Outcome, len(out[k]))
			for i, task := range out[k] {
				outcomes[i].Task = task
				if mayFail[task] > 0 {
					mayFail[task]--
					outcomes[i].Err = fmt.Errorf("no model")
				} else {
					finished[task] = true
				}
			}
			if err := q.Report(t.Context(), out[k], outcomes); err != nil {
				t.Fatal(err)
			}
			out = append(out[:k], out[k+1:]...)
		}
		for _, task := range tasks {
			_, had := scan.Finished[task]
			_, failed := scan.Failed[task]
			most := 2
			if failed {
				most = 1
			}
			if failed && scan.Repeated[task] {
				most = 0
			}
			orphan := task.Method == Single && !finished[task.Of(Baseline)]
			switch {
			case had && handed[task] != 0, handed[task] > most:
				t.Errorf("%s was handed out %d times, at most %d", task.Name(), handed[task], most)
			case !had && !finished[task] && !orphan && handed[task] != most:
				t.Errorf("%s was given up after %d times of %d", task.Name(), handed[task], most)
			}
		}
	})
}

// A process that waits for another's baseline goes on when it is reported, and stops when it is cancelled.
func TestLocalWaits(t *testing.T) {
	baseline := Task{Cell{"mnist", "dp-sgd", Rate, Baseline, "paper", 1}, 1}
	q := NewLocal([]Task{baseline, baseline.Of(Single)}, Scan{}, func(Cell) int { return 9 })
	first, err := q.Next(t.Context())
	if err != nil || len(first) != 1 || first[0] != baseline {
		t.Fatalf("%v, %v", first, err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := q.Next(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	next := make(chan Batch)
	go func() {
		batch, _ := q.Next(t.Context())
		next <- batch
	}()
	if err := q.Report(t.Context(), first, []Outcome{{Task: baseline, Result: Result{Task: baseline}}}); err != nil {
		t.Fatal(err)
	}
	if batch := <-next; len(batch) != 1 || batch[0] != baseline.Of(Single) {
		t.Errorf("%v", batch)
	}
}

// A second report of a task, as a queue with several workers may get one, changes nothing: neither what the first said
// nor what is handed out.
func TestLocalTakesTheFirstReport(t *testing.T) {
	task := Task{Cell{"mnist", "dp-sgd", Rate, Variant1, "paper", 1}, 1}
	q := NewLocal([]Task{task}, Scan{}, func(Cell) int { return 1 })
	failure, success := []Outcome{{Task: task, Err: errors.New("no model")}}, []Outcome{{Task: task, Result: Result{Task: task}}}
	for attempt, reports := range [][][]Outcome{{failure, failure, success}, {success, failure, success}} {
		batch, err := q.Next(t.Context())
		if err != nil || len(batch) != 1 {
			t.Fatalf("attempt %d: %v, %v", attempt+1, batch, err)
		}
		for _, report := range reports {
			if err := q.Report(t.Context(), batch, report); err != nil {
				t.Fatal(err)
			}
		}
	}
	if batch, err := q.Next(t.Context()); !errors.Is(err, ErrDrained) {
		t.Errorf("%v, %v", batch, err)
	}
}

// Tasks that are returned are handed out again, before others, and those that are reported or were never out aren't.
func TestLocalTakesTasksBack(t *testing.T) {
	tasks, _ := glyphs(3, Variant1)
	q := NewLocal(tasks, Scan{}, func(Cell) int { return 2 })
	batch, err := q.Next(t.Context())
	if err != nil || len(batch) != 2 {
		t.Fatal(batch, err)
	}
	if err := q.Report(t.Context(), batch[1:], []Outcome{{Task: batch[1]}}); err != nil {
		t.Fatal(err)
	}
	q.Return(append(batch, tasks[2]))
	again, err := q.Next(t.Context())
	if err != nil || fmt.Sprint(again) != fmt.Sprint(Batch{tasks[0], tasks[2]}) {
		t.Errorf("%v, %v", again, err)
	}
	waiting := make(chan error)
	go func() {
		got, err := q.Next(t.Context())
		if err == nil && fmt.Sprint(got) != fmt.Sprint(again) {
			err = fmt.Errorf("%v", got)
		}
		waiting <- err
	}()
	q.Return(again) // wakes a call that waits
	if err := <-waiting; err != nil {
		t.Error(err)
	}
}
