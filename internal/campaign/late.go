package campaign

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/dptrain/dptrain/internal/remote"
	"github.com/dptrain/dptrain/internal/runs"
)

// stoppedNote begins the moment in a run's record that says why it stopped, as package runs writes it.
const stoppedNote = "stopped: "

// late keeps the first delivery of a run that was cut off before this call until the queue hands out its task. It
// forgets any other: the first delivery of a run counts.
func (x *direction) late(ctx context.Context, d remote.Delivery) error {
	if _, have := x.early[d.Run]; x.cutOff[d.Run] && !have {
		x.early[d.Run] = d
		return nil
	}
	return x.fleet.Done(ctx, d.Run)
}

// readCutOff notes the runs of the store that were cut off, whose deliveries may come before their tasks are out.
func (x *direction) readCutOff() error {
	all, err := runs.List(x.store.Runs())
	if err != nil {
		return fmt.Errorf("read the runs that are out: %w", err)
	}
	for _, i := range all {
		if _, ok := ParseTask(filepath.Base(i.Dir)); ok && i.Resumable() {
			x.cutOff[i.Record.ID] = true
		}
	}
	return nil
}
