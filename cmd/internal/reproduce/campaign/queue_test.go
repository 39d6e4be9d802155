package campaign

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/cmd/internal/runs"
)

// Whatever fails, and in whatever order jobs end, each job starts until it succeeds, at most twice, single runs after
// their baselines, and jobs that are ready at once are of one kind.
func TestQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var jobs []Job
		for r := range rapid.IntRange(1, 4).Draw(t, "repetitions") {
			for _, dataset := range []string{"mnist", "imdb"}[:rapid.IntRange(1, 2).Draw(t, "data sets")] {
				for _, m := range []Method{Variant1, Single, Baseline} { // a single run may come before its baseline
					jobs = append(jobs, Job{Cell{dataset, "dp-sgd", Rate, m, "paper", 1}, r + 1})
				}
			}
		}
		if rapid.Bool().Draw(t, "orphan") {
			jobs = append(jobs, Job{Cell{"mnist", "dp-sgd", Rate, Single, "best", 1}, 1})
		}
		jobs = append(jobs, jobs[0])
		scan := Scan{map[Job]Result{}, map[Job]runs.Info{}, map[Job]runs.Info{}, map[Job]bool{}}
		mayFail := map[Job]int{} // how often a job fails
		finished := map[Job]bool{}
		for _, job := range jobs {
			switch rapid.IntRange(0, 5).Draw(t, "state of "+job.Name()) {
			case 0:
				scan.Finished[job] = Result{Job: job}
				finished[job] = true
			case 1:
				mayFail[job] = 1
			case 2:
				mayFail[job] = 2
			case 3:
				scan.Failed[job] = runs.Info{}
				mayFail[job] = rapid.IntRange(0, 1).Draw(t, "again")
			}
		}
		for job := range scan.Failed { // a job has one state
			delete(scan.Finished, job)
			delete(finished, job)
			if rapid.Bool().Draw(t, "twice") {
				scan.Repeated[job] = true
			}
		}
		q := newQueue(jobs, scan)
		handed := map[Job]int{}
		var out []Job
		for {
			ready := q.ready()
			for k, job := range ready {
				if job.kind() != ready[0].kind() || finished[job] || slices.Contains(out, job) {
					t.Fatalf("%s is ready beside %s", job.Name(), ready[0].Name())
				}
				if job.Method == Single && !finished[job.Of(Baseline)] {
					t.Fatalf("%s before its baseline", job.Name())
				}
				if k < 2 {
					handed[job]++
					q.remove(job)
					out = append(out, job)
				}
			}
			if len(ready) > 0 && rapid.Bool().Draw(t, "another first") {
				continue
			}
			if len(out) == 0 {
				break
			}
			k := rapid.IntRange(0, len(out)-1).Draw(t, "reported")
			job := out[k]
			out = slices.Delete(out, k, k+1)
			if mayFail[job] > 0 {
				mayFail[job]--
				q.ended(job, errors.New("no model"))
			} else {
				finished[job] = true
				q.ended(job, nil)
			}
		}
		for _, job := range jobs {
			_, had := scan.Finished[job]
			_, failed := scan.Failed[job]
			most := 2
			if failed {
				most = 1
			}
			if failed && scan.Repeated[job] {
				most = 0
			}
			orphan := job.Method == Single && !finished[job.Of(Baseline)]
			switch {
			case had && handed[job] != 0, handed[job] > most:
				t.Errorf("%s was handed out %d times, at most %d", job.Name(), handed[job], most)
			case !had && !finished[job] && !orphan && handed[job] != most:
				t.Errorf("%s was given up after %d times of %d", job.Name(), handed[job], most)
			}
		}
	})
}
