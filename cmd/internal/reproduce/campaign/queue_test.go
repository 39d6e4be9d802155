package campaign

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/cmd/internal/runs"
)

// Whatever fails and in whatever order tasks end: each task starts until it succeeds, at most twice, single runs after
// their baselines, and those that are ready at once are of one kind.
func TestQueue(t *testing.T) {
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
		finished := map[Task]bool{}
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
		q := newQueue(tasks, scan)
		handed := map[Task]int{}
		var out []Task
		for {
			ready := q.ready()
			for k, task := range ready {
				if task.group() != ready[0].group() || finished[task] || slices.Contains(out, task) {
					t.Fatalf("%s is ready beside %s", task.Name(), ready[0].Name())
				}
				if task.Method == Single && !finished[task.Of(Baseline)] {
					t.Fatalf("%s before its baseline", task.Name())
				}
				if k < 2 {
					handed[task]++
					q.remove(task)
					out = append(out, task)
				}
			}
			if len(ready) > 0 && rapid.Bool().Draw(t, "another first") {
				continue
			}
			if len(out) == 0 {
				break
			}
			k := rapid.IntRange(0, len(out)-1).Draw(t, "reported")
			task := out[k]
			out = slices.Delete(out, k, k+1)
			if mayFail[task] > 0 {
				mayFail[task]--
				q.ended(task, errors.New("no model"))
			} else {
				finished[task] = true
				q.ended(task, nil)
			}
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
