package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/internal/show"
)

// Heartbeat describes a worker, which publishes it every few seconds.
type Heartbeat struct {
	Worker    string   `json:"worker"` // a random name
	Host      string   `json:"host"`
	Machine   string   `json:"machine"` // what trains
	Build     Build    `json:"build"`
	Lanes     []string `json:"lanes"`
	GroupSize int      `json:"batch"` // the maximum number of jobs that it does side by side
	Jobs      []string `json:"jobs"`  // ids of the jobs under way
	Share     float64  `json:"share"` // of these jobs' work that is done, from 0 to 1
	Done      int      `json:"done"`  // number of jobs since its start
	// Refusal is why it last left jobs to other workers; "" if it never did.
	Refusal string `json:"refusal,omitempty"`
	Left    bool   `json:"left,omitempty"` // whether it has ended
}

// Name returns a name for people: the host, and the first letters of the random name.
func (h Heartbeat) Name() string {
	return show.Printable(fmt.Sprintf("%s-%.4s", cmp.Or(h.Host, "unknown"), h.Worker))
}

// heartbeats returns each worker's last heartbeat, by random name. Workers that ended a short while ago are among them.
func (c *Conn) heartbeats(ctx context.Context) (map[string]Heartbeat, error) {
	ctx, cancel := c.within(ctx)
	defer cancel()
	watcher, err := c.workers.WatchAll(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = watcher.Stop() }() // the connection may be gone
	all := map[string]Heartbeat{}
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case e, ok := <-watcher.Updates():
			switch {
			case !ok:
				return nil, errors.New("the connection was lost")
			case e == nil:
				return all, nil
			}
			var h Heartbeat
			if json.Unmarshal(e.Value(), &h) == nil {
				all[e.Key()] = h
			}
		}
	}
}

// survey reports workers that have come or gone since its last call.
func (b *Board) survey(ctx context.Context) {
	now, err := b.conn.heartbeats(ctx)
	if err != nil {
		return // the next survey is soon
	}
	b.mu.Lock()
	before := b.workers
	b.workers = now
	b.mu.Unlock()
	for id, h := range now {
		old, known := before[id]
		switch {
		case known || h.Left:
		case b.build.same(h.Build):
			b.tell(fmt.Sprintf("worker %s is here: %s", h.Name(), h.Machine))
		default:
			b.tell(fmt.Sprintf("worker %s gets nothing: it is %s, and this is %s", h.Name(), h.Build, b.build))
		}
		if h.Refusal != old.Refusal {
			b.tell(fmt.Sprintf("worker %s leaves some jobs to others: %s", h.Name(), h.Refusal))
		}
	}
	for id, h := range before {
		switch last, there := now[id]; {
		case h.Left: // reported before
		case !there:
			b.tell(fmt.Sprintf("worker %s is gone without a word; another takes over its jobs", h.Name()))
		case last.Left:
			b.tell(fmt.Sprintf("worker %s has left", h.Name()))
		}
	}
}

// Workers returns the workers of the same build, by their names.
func (b *Board) Workers() []Heartbeat {
	b.mu.Lock()
	defer b.mu.Unlock()
	return sorted(b.workers, func(h Heartbeat) bool { return !h.Left && b.build.same(h.Build) })
}

func sorted(all map[string]Heartbeat, wanted func(Heartbeat) bool) (out []Heartbeat) {
	for _, h := range all {
		if wanted(h) {
			out = append(out, h)
		}
	}
	slices.SortFunc(out, func(g, h Heartbeat) int { return cmp.Compare(g.Name(), h.Name()) })
	return out
}

// Want returns how many jobs should be out: twice what all workers do at once, so that none waits for the coordinator.
func (b *Board) Want() int {
	n := 4
	for _, w := range b.Workers() {
		n += 2 * w.GroupSize
	}
	return n
}

// Status counts a cluster's jobs, results and workers.
type Status struct {
	Waiting  uint64      `json:"waiting"`   // jobs that no worker has
	UnderWay uint64      `json:"under_way"` // jobs that workers say they have
	Results  uint64      `json:"results"`   // that no coordinator has filed yet
	Workers  []Heartbeat `json:"workers"`
}

// Status asks the server for its jobs, results and workers.
func (c *Conn) Status(ctx context.Context) (s Status, err error) {
	limited, cancel := c.within(ctx)
	defer cancel()
	jobs, errJobs := c.jobs.Info(limited)
	results, errResults := c.results.Info(limited)
	workers, errWorkers := c.heartbeats(ctx)
	if err := errors.Join(errJobs, errResults, errWorkers); err != nil {
		return s, c.ofServer(err)
	}
	s.Workers = sorted(workers, func(h Heartbeat) bool { return !h.Left })
	for _, w := range s.Workers {
		s.UnderWay += uint64(len(w.Jobs))
	}
	s.UnderWay = min(s.UnderWay, jobs.State.Msgs) // heartbeats may be some seconds old
	s.Waiting = jobs.State.Msgs - s.UnderWay
	s.Results = results.State.Msgs
	return s, nil
}
