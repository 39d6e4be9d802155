package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// CarryOut carries out the jobs of one group side by side. The results are in the order of jobs. A run that gives no
// model has a result too. An error is the worker's own fault, and all jobs are left undone: a lost device, a full disk,
// data that can't be read, ctx.
func (w *Worker) CarryOut(ctx context.Context, jobs []Job, f Follower) ([]Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(jobs) > 0 && len(jobs[0].Trials) > 0 {
		return w.carryOutTrials(ctx, jobs, f)
	}
	results := make([]Result, len(jobs))
	var started []experiment.Job
	var of []int // for each of them, the index of its job
	followers := experiment.Shares(len(jobs), f.Warn, f.Working)
	for k, j := range jobs {
		if err := together(jobs[0], j); err != nil {
			return nil, err
		}
		r, p, err := w.begin(ctx, j, f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", j.Name, err)
		}
		if results[k] = r; p != nil {
			started = append(started, experiment.Job{Plan: p, Options: experiment.Options{Key: j.Key}, Follower: followers[k]})
			of = append(of, k)
		}
	}
	if len(started) == 0 {
		return results, ctx.Err()
	}
	outcomes, err := experiment.RunAll(ctx, w.Engine, started)
	var failed tuner.PlanErrors
	if err != nil && !errors.As(err, &failed) {
		return nil, err
	}
	for i, k := range of {
		why := error(nil)
		if failed != nil {
			why = failed[i]
		}
		if err := results[k].end(outcomes[i], why); err != nil {
			return nil, fmt.Errorf("%s: %w", jobs[k].Name, err)
		}
	}
	return results, nil
}

// carryOutTrials carries out jobs that are trials of one run.
func (w *Worker) carryOutTrials(ctx context.Context, jobs []Job, f Follower) ([]Result, error) {
	var trials []int
	for _, j := range jobs {
		if err := together(jobs[0], j); err != nil {
			return nil, err
		}
		if j.Key != jobs[0].Key {
			return nil, fmt.Errorf("%s: jobs of trials of one run, and two keys", j.Name)
		}
		trials = append(trials, j.Trials...)
	}
	r, p, err := w.begin(ctx, jobs[0], f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", jobs[0].Name, err)
	}
	if p == nil { // the coordinator has calibrated the same noise
		return nil, fmt.Errorf("%s: %s", jobs[0].Name, r.Failure)
	}
	follower := experiment.Shares(1, f.Warn, f.Working)[0]
	outcomes, err := p.PrivateTrials(ctx, w.Engine, jobs[0].Key, trials, follower)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", jobs[0].Name, err)
	}
	results := make([]Result, len(jobs))
	for k, j := range jobs {
		results[k] = r // a group has trials of one run alone
		results[k].Trials, err = tuner.MarshalOutcomes(slices.DeleteFunc(slices.Clone(outcomes), func(one tuner.PrivateOutcome) bool {
			return !slices.Contains(j.Trials, one.Trial)
		}))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", j.Name, err)
		}
	}
	return results, nil
}

// end adds a run's outcome, or why it gave no model. The error is the worker's own fault.
func (r *Result) end(o experiment.Outcome, why error) (err error) {
	if OfWorker(why) {
		return why
	}
	if why != nil {
		r.Failure = line(why.Error(), maxText)
		return r.Check()
	}
	if r.Released, err = o.Release.Files(); err != nil {
		return err
	}
	if r.Private, err = o.PrivateJSON(); err != nil {
		return err
	}
	r.Score = o.Release.Score
	return r.Check()
}

// together returns an error for two jobs that can't train side by side, or for one without a key.
func together(first, j Job) error {
	switch {
	case j.Group() != first.Group():
		return fmt.Errorf("%s and %s are jobs of two groups; carry them out one after the other", first.Name, j.Name)
	case j.Key == train.Key{}:
		return fmt.Errorf("%s: the job has no key", j.Name)
	}
	return nil
}

// begin returns a job's plan, and a result that says who trains it and how. If no noise meets the job's budget, the
// plan is nil, and the result says so.
func (w *Worker) begin(ctx context.Context, j Job, f Follower) (r Result, p *experiment.Plan, err error) {
	r = Result{Run: j.Run, Machine: line(w.Name, maxName)}
	p, err = w.plan(ctx, j, f)
	if e, ok := errors.AsType[*experiment.Error](err); ok && e.Kind == experiment.Budget {
		r.Failure = line(err.Error(), maxText)
		return r, nil, nil
	}
	if err != nil {
		return r, nil, err
	}
	r.Identity, err = p.Identity(w.Program)
	return r, p, err
}

// OfWorker reports whether an error is the worker's own fault, such as a full disk, and not its job's.
func OfWorker(err error) bool {
	return errors.As(err, new(*fs.PathError)) || errors.As(err, new(syscall.Errno)) || errors.Is(err, train.ErrLost)
}

// HashFiles returns a hash of the contents of own files: of the private one and, unless its path is "", of the public
// one. The hash is private.
func HashFiles(training, test string) (string, error) {
	h := sha256.New()
	for _, path := range []string{training, test} {
		if path == "" { // no public test file
			h.Write(make([]byte, sha256.Size))
			continue
		}
		one, err := hashFile(path)
		if err != nil {
			return "", err
		}
		h.Write(one)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func hashFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file", path)
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return h.Sum(nil), nil
}
