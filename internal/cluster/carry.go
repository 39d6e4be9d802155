package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// carryOut asks for the secrets of jobs, does them and hands in what came of them. It leaves in jobs what isn't done.
func (s *serving) carryOut(ctx context.Context, jobs *[]leased, progress func(float64)) error {
	data, err := s.crew.Data(ctx, (*jobs)[0].Job)
	if errors.Is(err, ErrCannot) {
		s.refuse(*jobs, err)
		*jobs = nil
		return nil
	}
	if err != nil {
		return err
	}
	progress(0)
	var granted []leased
	for _, j := range *jobs {
		ok, err := s.ask(ctx, &j, data)
		if err != nil {
			return err
		}
		if ok {
			granted = append(granted, j)
		}
	}
	if *jobs = granted; len(granted) == 0 {
		return nil
	}
	bodies, err := s.crew.Do(ctx, only(granted), progress)
	if errors.Is(err, ErrCannot) {
		s.refuse(granted, err)
		*jobs = nil
		return nil
	}
	if err != nil {
		return err
	}
	if len(bodies) != len(granted) {
		return fmt.Errorf("cluster: %d results of %d jobs", len(bodies), len(granted))
	}
	s.handing.Store(true)
	defer s.handing.Store(false)
	for k, j := range granted {
		if err := s.handIn(ctx, j, bodies[k]); err != nil {
			return err
		}
		*jobs = granted[k+1:]
		s.mu.Lock()
		s.state.Done++
		s.mu.Unlock()
	}
	return nil
}

func only(jobs []leased) []Job {
	out := make([]Job, len(jobs))
	for k, j := range jobs {
		out[k] = j.Job
	}
	return out
}

// refuse leaves jobs to other workers, and those of their group from now on.
func (s *serving) refuse(jobs []leased, why error) {
	s.ban(jobs[0].campaign+jobs[0].Group, banFor)
	s.tellOnce(why.Error())
	subject := keyRoot + jobs[0].campaign
	text, err := s.conn.sealer.encode(subject, claim{Worker: s.id, Build: s.Build, ID: jobs[0].ID, Cannot: why.Error()})
	if err == nil {
		_ = s.conn.nats.Publish(subject, text) // it is for people
	}
	for _, j := range jobs {
		_ = j.message.NakWithDelay(time.Second)
	}
}

// ask asks the coordinator for the secret of a job. It reports whether the job is to be done; if not, it has left it to
// others, or the job has ended.
func (s *serving) ask(ctx context.Context, j *leased, data []byte) (bool, error) {
	if s.isBanned(noAnswer + j.campaign) { // since the job before it
		_ = j.message.NakWithDelay(s.silence())
		return false, nil
	}
	subject, nonce := keyRoot+j.campaign, newNonce()
	text, err := s.conn.sealer.encode(subject, claim{
		Worker: s.id, Build: s.Build, ID: j.ID, Body: j.digest(), Data: data, Public: s.key.PublicKey().Bytes(), Nonce: nonce,
	})
	if err != nil {
		return false, err
	}
	var g grant
	for tries := 1; ; tries++ {
		linked, cut := s.conn.within(ctx)
		asking, cancel := context.WithTimeout(linked, s.conn.timing.reply)
		m, err := s.conn.nats.RequestWithContext(asking, subject, text)
		cancel()
		cut()
		if err == nil {
			if err = s.conn.sealer.decode(replyTo(subject, nonce), m.Data, &g); err == nil {
				break
			}
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if tries == 4 {
			s.tellOnce("a coordinator doesn't answer; its jobs wait until it does")
			s.ban(noAnswer+j.campaign, s.silence())
			_ = j.message.NakWithDelay(s.silence())
			return false, nil
		}
		time.Sleep(time.Duration(tries) * 100 * time.Millisecond)
	}
	switch g.Refusal {
	case "":
		j.Secret, err = openWith(s.key, boxFor(j.campaign, j.ID), g.Box)
		return err == nil, err
	case notOut:
		return false, j.message.Ack()
	case notNow:
		s.tellOnce(g.Why)
		return false, j.message.NakWithDelay(s.conn.timing.renew)
	case otherBuild:
		s.ban(j.campaign, banFor)
	default:
		s.ban(j.campaign+j.Group, banFor)
	}
	s.tellOnce(g.Why)
	return false, j.message.Nak()
}
