package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/dptrain/dptrain/cmd/internal/engines"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/reproduce/campaign"
	"github.com/dptrain/dptrain/cmd/internal/reproduce/paper"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/train"
)

// listedFigure is a line of "reproduce --list".
type listedFigure struct {
	Name      string   `json:"name"`
	Title     string   `json:"title"`
	Presets   []string `json:"presets"`
	Runs      int      `json:"runs"`
	Models    float64  `json:"models"`    // expected trials and final runs
	Gradients float64  `json:"gradients"` // expected, of single samples
	Seconds   float64  `json:"seconds"`   // likely here
	Missing   int      `json:"runs_missing"`
	Left      float64  `json:"seconds_left"`
}

type figureList struct {
	Figures []listedFigure `json:"figures"`
	All     listedFigure   `json:"all"` // each run once, though several figures show it
}

// listFigures shows figures, what they run, and how long that is likely to take.
func (g *global) listFigures(ctx context.Context, opts reproduceOptions, chosen []paper.Figure, p settings.Performance) error {
	asked := opts.description(nil, nil, nil)
	store, err := campaign.Look(opts.out)
	switch {
	case errors.Is(err, campaign.ErrNone):
		store, err = campaign.Planned(asked), nil
	case err == nil:
		err = store.Agrees(asked)
	}
	if err != nil {
		return campaignError(err)
	}
	tasks := tasksOf(chosen, opts.selection)
	pace, err := g.measurePace(ctx, store, tasks, p)
	if err != nil {
		return engines.Blame(err)
	}
	list, err := term.Await(ctx, "reading the runs", func() (l figureList, err error) {
		scan, err := store.Scan(tasks)
		if err != nil {
			return l, err
		}
		for _, f := range chosen {
			line, err := listed(store, pace, scan, f.Jobs(opts.selection))
			if err != nil {
				return l, err
			}
			line.Name, line.Title = f.Label, f.Title
			l.Figures = append(l.Figures, line)
		}
		l.All, err = listed(store, pace, scan, tasks)
		return l, err
	})
	if err != nil {
		return campaignError(err)
	}
	return g.Print(list, func(w io.Writer) { printFigureList(w, list, store) })
}

// measurePace returns the pace that the store knows. It measures now whatever the store lacks.
func (g *global) measurePace(ctx context.Context, store *campaign.Store, tasks []campaign.Job, p settings.Performance) (campaign.Pace, error) {
	running := new(sync.WaitGroup)
	device, err := g.gpus.Choose(p)
	if err != nil {
		return nil, err
	}
	device = device.Opening(ctx, running, p, func(text string) { g.Console().Log().Warn(text) })
	return term.Follow(ctx, g.Console(), measuring, func(f *term.Follower) (pace campaign.Pace, err error) {
		err = device.Using(ctx, p, f, func(gpu train.Engine) error {
			pace, err = measured(ctx, store, engines.New(p, gpu), engines.Machine(p, gpu), tasks, f)
			return err
		})
		return pace, err
	})
}

// listed adds up tasks.
func listed(store *campaign.Store, pace campaign.Pace, scan campaign.Scan, tasks []campaign.Job) (l listedFigure, err error) {
	seen := map[string]bool{}
	for _, t := range tasks {
		w, err := store.Estimate(t.Cell, pace)
		if err != nil {
			return l, err
		}
		l.Runs++
		l.Models += w.Models
		l.Gradients += w.Gradients
		l.Seconds += w.Seconds
		if _, ok := scan.Finished[t]; !ok {
			l.Missing++
			l.Left += w.Seconds
		}
		if preset := t.Preset(); !seen[preset] {
			seen[preset] = true
			l.Presets = append(l.Presets, preset)
		}
	}
	return l, nil
}

func printFigureList(w io.Writer, list figureList, store *campaign.Store) {
	lines := [][]string{{"name", "runs", "missing", "models", "gradients", "likely here", "left"}}
	line := func(name string, l listedFigure) {
		if l.Runs == 0 {
			lines = append(lines, []string{name, "none", "", "", "", "a minute", ""})
			return
		}
		lines = append(lines, []string{name, strconv.Itoa(l.Runs), strconv.Itoa(l.Missing), release.Whole(l.Models), millions(l.Gradients), lasting(l.Seconds), lasting(l.Left)})
	}
	for _, f := range list.Figures {
		line(f.Name, f)
	}
	if len(list.Figures) > 1 {
		line("all, each run once", list.All)
	}
	term.Columns(w, lines...)
	fmt.Fprintln(w)
	for _, f := range list.Figures {
		text := f.Title
		if len(f.Presets) > 0 {
			text += ": " + fmt.Sprint(f.Presets)
		}
		term.Sentence(w, f.Name+": "+text)
	}
	if size := store.Description.Scale.String(); size != "" {
		term.Sentence(w, "Runs have "+size+".")
	}
	term.Sentence(w, "Detailed figures show the runs of the summary figures. Times are for training alone, by steps that were just measured; loading, accounting and scoring come on top.")
}

// millions prints a number of gradients.
func millions(v float64) string {
	if v >= 1e10 {
		return fmt.Sprintf("%.1f G", v/1e9)
	}
	return release.Grouped(int(v/1e6+0.5)) + " M"
}
