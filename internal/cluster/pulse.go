package cluster

import (
	"context"
	"slices"
	"time"
)

func (s *serving) begin(jobs []leased) {
	s.mu.Lock()
	s.state.Jobs, s.state.Share = nil, 0
	for _, j := range jobs {
		s.state.Jobs = append(s.state.Jobs, j.ID)
	}
	s.mu.Unlock()
	s.feel(false)
}

func (s *serving) share(share float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Share = share
}

func (s *serving) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Jobs, s.state.Share = nil, 0
}

// pulses says every few seconds what the worker does.
func (s *serving) pulses(ctx context.Context) {
	tick := time.NewTicker(s.conn.timing.pulse)
	defer tick.Stop()
	for s.feel(false); ; s.feel(false) {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *serving) feel(ending bool) {
	s.mu.Lock()
	p := s.state
	p.Worker, p.Host, p.Machine, p.Build, p.Batch, p.Ending = s.id, s.Host, s.Machine, s.Build, s.Batch, ending
	p.Jobs = slices.Clone(p.Jobs)
	s.mu.Unlock()
	for _, lane := range s.Lanes {
		p.Lanes = append(p.Lanes, s.conn.laneToken(lane))
	}
	text, err := s.conn.sealer.encode(pulse, p)
	if err == nil {
		_ = s.conn.nats.Publish(pulse, text) // the next one says the same
	}
}
