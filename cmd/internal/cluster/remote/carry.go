package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// CarryOut carries out orders of one group side by side, and returns their deliveries in the same order. A run that
// gives no model is a delivery too. The errors of CarryOut are those of the machine, after which it has delivered
// nothing: a lost device, a full disk, data that can't be read, ctx.
func (m *Machine) CarryOut(ctx context.Context, orders []Order, f Follower) ([]Delivery, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(orders) > 0 && len(orders[0].Trials) > 0 {
		return m.carryOutTrials(ctx, orders, f)
	}
	deliveries := make([]Delivery, len(orders))
	var items []experiment.Item
	var of []int // the numbers of the items' orders
	followers := experiment.Shares(len(orders), f.Warn, f.Working)
	for k, o := range orders {
		if err := together(orders[0], o); err != nil {
			return nil, err
		}
		d, p, err := m.begin(ctx, o, f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Name, err)
		}
		if deliveries[k] = d; p != nil {
			items = append(items, experiment.Item{Plan: p, Job: experiment.Job{Key: o.Key}, Follower: followers[k]})
			of = append(of, k)
		}
	}
	if len(items) == 0 {
		return deliveries, ctx.Err()
	}
	outcomes, err := experiment.RunAll(ctx, m.Engine, items)
	var failed tuner.PlanErrors
	if err != nil && !errors.As(err, &failed) {
		return nil, err
	}
	for i, k := range of {
		why := error(nil)
		if failed != nil {
			why = failed[i]
		}
		if err := deliveries[k].end(outcomes[i], why); err != nil {
			return nil, fmt.Errorf("%s: %w", orders[k].Name, err)
		}
	}
	return deliveries, nil
}

// end adds what a run came to, or why it gave no model. The error is that of the machine.
func (d *Delivery) end(o experiment.Outcome, why error) error {
	switch {
	case OfMachine(why):
		return why
	case why != nil:
		d.Failure = failureOf(why)
	default:
		if err := d.pack(o); err != nil {
			return err
		}
	}
	return d.Check()
}

// together returns an error for two orders that can't train side by side, or for one without a key.
func together(first, o Order) error {
	switch {
	case o.Group() != first.Group():
		return fmt.Errorf("%s and %s are orders of two groups; carry them out one after the other", first.Name, o.Name)
	case o.Key == train.Key{}:
		return fmt.Errorf("%s: the order has no key", o.Name)
	}
	return nil
}

// begin returns an order's plan and what is known of its delivery, or without a plan the delivery of an order whose
// budget no noise meets.
func (m *Machine) begin(ctx context.Context, o Order, f Follower) (d Delivery, p *experiment.Plan, err error) {
	d = Delivery{Run: o.Run, Machine: line(m.Name, maxName)}
	p, err = m.plan(ctx, o, f)
	var e *experiment.Error
	if errors.As(err, &e) && e.Kind == experiment.Budget {
		d.Failure = failureOf(err)
		return d, nil, nil
	}
	if err != nil {
		return d, nil, err
	}
	if d.Identity, err = p.Identity(m.Program); err != nil {
		return d, nil, err
	}
	d.Arithmetic, err = m.arithmetic(o, p)
	return d, p, err
}

// failureOf returns an error's text as that of a delivery, which isn't empty.
func failureOf(err error) string {
	if text := line(err.Error(), maxText); text != "" {
		return text
	}
	return "an error without a text"
}

// pack adds what a run came to.
func (d *Delivery) pack(o experiment.Outcome) (err error) {
	if d.Released, err = pack(o.Release); err != nil {
		return err
	}
	d.Score = o.Release.Score
	d.Private, err = o.PrivateJSON()
	return err
}

// pack returns the files of a release, by their slash-separated names.
func pack(r release.Release) (files map[string][]byte, err error) {
	dir, err := os.MkdirTemp("", "dptrain-") // with mode 0700
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := r.Write(dir); err != nil {
		return nil, err
	}
	return readFiles(dir)
}

// readFiles returns the files of a folder released/, by their slash-separated names.
func readFiles(dir string) (map[string][]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files, size := map[string][]byte{}, int64(0)
	return files, fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if size += info.Size(); !info.Mode().IsRegular() || size > maxDelivery || len(files) == maxFiles {
			return fmt.Errorf("%s: no file, or the folder is too large; bring back what the run released", filepath.Join(dir, name))
		}
		files[name], err = root.ReadFile(filepath.FromSlash(name))
		return err
	})
}

// OfMachine reports whether the machine is at fault that a run gave no model, such as by a full disk.
func OfMachine(err error) bool {
	var file *fs.PathError
	var errno syscall.Errno
	return errors.As(err, &file) || errors.As(err, &errno) || errors.Is(err, train.ErrLost)
}
