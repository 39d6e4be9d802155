package remote

import (
	"context"
	"errors"
	"time"

	"github.com/dptrain/dptrain/cmd/internal/cluster"
	"github.com/dptrain/dptrain/cmd/internal/settings"
)

// Workers hands out jobs on a board. It implements campaign.Workers.
type Workers struct {
	Board  *cluster.Board
	Engine string // that jobs train on, as in package settings; auto is any
	// Files is the hash of own files, by [HashFiles]; "" if jobs train on named data sets.
	Files string
}

// Post implements campaign.Workers.
func (w *Workers) Post(ctx context.Context, j Job) error {
	body, err := j.Marshal()
	if err != nil {
		return err
	}
	return w.Board.Post(ctx, cluster.Job{ID: j.Run, Lane: w.lane(j), Group: j.Group(), Body: body, Secret: j.Key[:]})
}

// Next implements campaign.Workers.
func (w *Workers) Next(ctx context.Context) (*Result, error) {
	limited, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	arrived, err := w.Board.Next(limited)
	if err == limited.Err() && err != nil { // not one that wraps it, of the connection
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	r, err := UnmarshalResult(arrived.Body)
	if err == nil && r.Run != arrived.ID {
		err = errors.New("it says that it is of another run")
	}
	if err != nil {
		r = Result{Run: arrived.ID, Unread: err}
	}
	return &r, nil
}

// Done implements campaign.Workers.
func (w *Workers) Done(ctx context.Context, run string) error { return w.Board.Done(ctx, run) }

// Want implements campaign.Workers.
func (w *Workers) Want() int { return w.Board.Want() }

// lane returns the lane of a job.
func (w *Workers) lane(j Job) string {
	data := j.Settings.Dataset
	if data == settings.Files {
		data += "-" + w.Files
	}
	return laneOf(data, w.Engine)
}

// laneOf returns the lane of jobs that train on data by an engine; "" and auto are any.
func laneOf(data, engine string) string {
	if engine == "" || engine == settings.EngineAuto {
		engine = "any"
	}
	return data + "-" + engine
}

// Lanes returns the lanes of a worker that has data sets, or own files with a hash, and an engine.
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
