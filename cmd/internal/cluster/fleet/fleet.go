package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dptrain/dptrain/cmd/internal/cluster"
	"github.com/dptrain/dptrain/cmd/internal/cluster/remote"
	"github.com/dptrain/dptrain/cmd/internal/settings"
)

// Fleet hands out orders on a board. It is a campaign's Fleet.
type Fleet struct {
	Board  *cluster.Board
	Engine string // that orders are to train on, as in package settings; auto is any
	// Files is the hash of own files, by [HashFiles]; "" if orders train on named data sets.
	Files string

	unread map[string]int // how often a run's result couldn't be read
}

// Post implements campaign.Fleet.
func (f *Fleet) Post(ctx context.Context, o remote.Order) error {
	body, err := o.Marshal()
	if err != nil {
		return err
	}
	return f.Board.Post(ctx, cluster.Job{ID: o.Run, Lane: f.lane(o), Group: o.Group(), Body: body, Secret: o.Key[:]})
}

// Next implements campaign.Fleet. A result that is none, as those that wait of another version of dptrain, is
// forgotten, and its order posted again if it is out: otherwise it would come again whenever the coordinator starts.
func (f *Fleet) Next(ctx context.Context) (*remote.Delivery, error) {
	limited, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	r, err := f.Board.Next(limited)
	if err == limited.Err() && err != nil { // not one that wraps it, of the connection
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	d, err := remote.UnmarshalDelivery(r.Body)
	if err == nil && d.Run != r.ID {
		err = errors.New("it says that it is of another run")
	}
	if err == nil {
		return &d, nil
	}
	if f.unread == nil {
		f.unread = map[string]int{}
	}
	if f.unread[r.ID]++; f.unread[r.ID] > tries { // the same program as this one made it
		return nil, fmt.Errorf("the result of run %s: %w", r.ID, err)
	}
	return nil, f.Board.Refuse(ctx, r.ID, err)
}

// Done implements campaign.Fleet.
func (f *Fleet) Done(ctx context.Context, run string) error { return f.Board.Done(ctx, run) }

// Want implements campaign.Fleet.
func (f *Fleet) Want() int { return f.Board.Want() }

// Able returns how many workers are there, and how many of them have the data and the engine that an order takes.
func (f *Fleet) Able(o remote.Order) (able, all int) { return f.Board.Able(f.lane(o)) }

// lane returns the lane of an order.
func (f *Fleet) lane(o remote.Order) string {
	data := o.Settings.Dataset
	if data == settings.Files {
		data += "-" + f.Files
	}
	return laneOf(data, f.Engine)
}

// laneOf returns the lane of jobs on data, for those who have an engine.
func laneOf(data, engine string) string {
	if engine == "" || engine == settings.EngineAuto {
		engine = "any"
	}
	return data + "-" + engine
}

// Lanes returns the lanes of a machine that has data sets, or own files with a hash, and an engine.
func Lanes(datasets []string, files, engine string) []string {
	if files != "" {
		datasets = append(datasets[:len(datasets):len(datasets)], settings.Files+"-"+files)
	}
	var lanes []string
	for _, d := range datasets {
		lanes = append(lanes, laneOf(d, engine), laneOf(d, settings.EngineAuto))
	}
	return lanes
}
