package cluster

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
)

// replyTo names what a reply is for: a reply to another request opens nothing.
func replyTo(subject string, nonce []byte) string { return fmt.Sprintf("%s reply %x", subject, nonce) }

// boxFor names what a sealed secret is.
func boxFor(campaign, id string) string { return "secret of " + campaign + " " + id }

// answer answers a worker that says hello or asks for the secret of a job.
func (b *Board) answer(m *nats.Msg) {
	var c claim
	switch err := b.conn.sealer.decode(m.Subject, m.Data, &c); {
	case err == nil && c.Cannot != "":
		b.missOut(c)
		return
	case m.Reply == "":
		return
	case err != nil: // all that one without the secret learns is that it has another
		_ = m.Respond([]byte("another secret"))
		return
	}
	g := b.grant(c)
	reply, err := b.conn.sealer.encode(replyTo(m.Subject, c.Nonce), g)
	if err == nil {
		err = m.Respond(reply)
	}
	if err != nil {
		return // it asks again
	}
}

// missOut says once of each worker and group that the worker can't do its jobs: if no worker can, a person has to know.
func (b *Board) missOut(c claim) {
	b.mu.Lock()
	key := c.Worker + " cannot " + b.out[c.ID].Group
	said := b.refused[key]
	b.refused[key] = true
	name := b.workers[c.Worker].Name()
	b.mu.Unlock()
	if !said {
		b.tell(fmt.Sprintf("worker %s leaves some jobs to others: %s", name, c.Cannot))
	}
}

// grant decides on a claim.
func (b *Board) grant(c claim) grant {
	secret, g, text := b.decide(c)
	if text != "" {
		b.tell(text)
	}
	if g.Refusal != "" || c.ID == "" {
		return g
	}
	box, err := sealFor(c.Public, boxFor(b.campaign, c.ID), secret)
	if err != nil {
		return grant{Refusal: otherBuild, Why: err.Error()}
	}
	return grant{Box: box}
}

// decide returns a job's secret, or a refusal, and what a person should know of it.
func (b *Board) decide(c claim) (secret []byte, g grant, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.build.same(c.Build) {
		if !b.refused[c.Worker] {
			b.refused[c.Worker] = true
			text = fmt.Sprintf("a worker was refused: it is %s (%s), and this is %s (%s)", c.Build.Version, c.Build.short(), b.build.Version, b.build.short())
		}
		return nil, grant{Refusal: otherBuild, Why: fmt.Sprintf("this worker is %s (%s), and the jobs are of %s (%s): run the same on all machines", c.Build.Version, c.Build.short(), b.build.Version, b.build.short())}, text
	}
	if c.ID == "" {
		return nil, grant{}, ""
	}
	j, out := b.out[c.ID]
	if _, waits := b.waiting[c.ID]; !out || waits {
		return nil, grant{Refusal: notOut, Why: "the job has ended"}, ""
	}
	if !bytes.Equal(c.Body, j.digest()) { // once the worker has removed it, the board posts the job again
		return nil, grant{Refusal: notOut, Why: "the job is another one now"}, ""
	}
	first, known := b.data[j.Group]
	if !known {
		first = c.Data
		b.data[j.Group] = first
		if b.kept != nil {
			if err := b.kept(maps.Clone(b.data)); err != nil { // with a restart another worker might decide
				delete(b.data, j.Group)
				return nil, grant{Refusal: notNow, Why: "the coordinator can't write"}, fmt.Sprintf("no worker gets anything: the hashes of data can't be kept: %v", err)
			}
		}
	}
	if !bytes.Equal(first, c.Data) {
		if key := c.Worker + j.Group; !b.refused[key] {
			b.refused[key] = true
			text = fmt.Sprintf("a worker was refused: it has other data for %s than this machine or the first worker; one of the two has damaged files", j.Group)
		}
		return nil, grant{Refusal: otherData, Why: fmt.Sprintf("this worker has other data for %s than the coordinator or the first worker: one of the two has damaged files", j.Group)}, text
	}
	if b.grants[c.ID]++; b.grants[c.ID]%5 == 0 {
		text = fmt.Sprintf("%s was begun %d times, and no worker has ended it: does it need more memory or time than they have?", c.ID, b.grants[c.ID])
	}
	return j.Secret, grant{}, text
}

// Expect says which data jobs of a group use, by the hash that workers compute. Without it the first worker decides.
func (b *Board) Expect(group string, data []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data[group] = data
}

// Keep calls a function with the hashes of data of all groups, by their names, whenever a worker has decided one: for
// Expect, when the coordinator starts anew. While it fails, no worker gets a job of that group.
func (b *Board) Keep(kept func(data map[string][]byte) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept = kept
}

func (b Build) short() string { return fmt.Sprintf("%s, program %.8s", b.Platform, b.Hash) }

// feel notes what a worker says of itself.
func (b *Board) feel(m *nats.Msg) {
	var p Pulse
	if b.conn.sealer.decode(pulse, m.Data, &p) != nil {
		return
	}
	p.Seen = time.Now()
	b.mu.Lock()
	before, known := b.workers[p.Worker]
	if p.Ending {
		delete(b.workers, p.Worker)
	} else {
		b.workers[p.Worker] = p
	}
	b.mu.Unlock()
	switch {
	case p.Ending && known:
		b.tell(fmt.Sprintf("worker %s has left", before.Name()))
	case !p.Ending && !known && b.build.same(p.Build):
		b.tell(fmt.Sprintf("worker %s is here: %s", p.Name(), p.Machine))
	}
}

// Name returns a name for people: the host, and some letters of the random number.
func (p Pulse) Name() string { return fmt.Sprintf("%s-%.4s", cmp.Or(p.Host, "unknown"), p.Worker) }

// miss notices workers that say nothing any more.
func (b *Board) miss(now time.Time) {
	var missing []Pulse
	b.mu.Lock()
	for id, p := range b.workers {
		if now.Sub(p.Seen) > b.conn.timing.gone() {
			missing = append(missing, p)
			delete(b.workers, id)
		}
	}
	b.mu.Unlock()
	for _, p := range missing {
		text := fmt.Sprintf("worker %s is gone without a word", p.Name())
		if len(p.Jobs) > 0 {
			text += "; another takes over its jobs"
		}
		b.tell(text)
	}
}

// Workers returns the workers of the same build, by their names.
func (b *Board) Workers() []Pulse {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := slices.DeleteFunc(slices.Collect(maps.Values(b.workers)), func(p Pulse) bool { return !b.build.same(p.Build) })
	slices.SortFunc(all, func(p, q Pulse) int { return cmp.Compare(p.Name(), q.Name()) })
	return all
}

// Able returns how many workers are there, and how many of them take the jobs of a lane.
func (b *Board) Able(lane string) (able, all int) {
	token := b.conn.laneToken(lane)
	for _, w := range b.Workers() {
		if all++; slices.Contains(w.Lanes, token) {
			able++
		}
	}
	return able, all
}

// Want returns how many jobs should be out: twice what all workers do at once, so that none waits for the coordinator.
func (b *Board) Want() int {
	n := 4
	for _, p := range b.Workers() {
		n += 2 * p.Batch
	}
	return n
}
