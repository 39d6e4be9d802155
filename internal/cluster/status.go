package cluster

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Status is what a cluster is at.
type Status struct {
	Waiting  uint64  `json:"waiting"`   // jobs that no worker has
	UnderWay uint64  `json:"under_way"` // jobs that workers have
	Results  uint64  `json:"results"`   // that no coordinator has taken yet
	Workers  []Pulse `json:"workers"`
}

// Status listens until every worker has said what it does.
func (c *Conn) Status(ctx context.Context) (Status, error) {
	var mu sync.Mutex
	workers := map[string]Pulse{}
	sub, err := c.nats.Subscribe(pulse, func(m *nats.Msg) {
		var p Pulse
		if c.sealer.decode(pulse, m.Data, &p) != nil {
			return
		}
		p.Seen = time.Now()
		mu.Lock()
		defer mu.Unlock()
		if workers[p.Worker] = p; p.Ending {
			delete(workers, p.Worker)
		}
	})
	if err != nil {
		return Status{}, err
	}
	defer func() { _ = sub.Unsubscribe() }() // the connection may be gone
	s, err := c.counts(ctx)
	if err != nil {
		return s, c.ofServer(err)
	}
	select {
	case <-ctx.Done():
		return s, ctx.Err()
	case <-time.After(c.timing.pulse + c.timing.pulse/5):
	}
	mu.Lock()
	defer mu.Unlock()
	for _, p := range workers {
		s.Workers = append(s.Workers, p)
	}
	slices.SortFunc(s.Workers, func(p, q Pulse) int { return cmp.Compare(p.Name(), q.Name()) })
	return s, nil
}

func (c *Conn) counts(ctx context.Context) (s Status, err error) {
	ctx, cancel := c.within(ctx)
	defer cancel()
	tasks, errTasks := c.js.Stream(ctx, tasksName)
	results, errResults := c.js.Stream(ctx, resultsName)
	if err := errors.Join(errTasks, errResults); err != nil {
		return s, err
	}
	s.Results = results.CachedInfo().State.Msgs
	consumers := tasks.ListConsumers(ctx)
	for info := range consumers.Info() {
		s.UnderWay += uint64(info.NumAckPending)
	}
	s.Waiting = tasks.CachedInfo().State.Msgs - min(s.UnderWay, tasks.CachedInfo().State.Msgs)
	return s, consumers.Err()
}
