package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
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
	All     listedFigure   `json:"all"`     // each run once, though several figures show it
	Absent  []string       `json:"absent"`  // data sets that would have to be downloaded
	Without string         `json:"without"` // the flag that leaves them out; empty if nothing would be left
}

// listFigures shows figures, what they run, and how long that is likely to take here. It changes no file.
func (g *global) listFigures(ctx context.Context, opts reproduceOptions, chosen []paper.Figure, p settings.Performance) error {
	m := missing{reproduceOptions: opts, performance: p, tasks: tasksOf(chosen, opts.selection)}
	var absent []string
	var without string
	var err error
	if len(m.tasks) > 0 {
		if absent, without, err = opts.absent(); err != nil {
			return term.Input(err)
		}
	}
	if m.store, err = campaign.Planned(opts.out, opts.description(m.tasks)); err != nil {
		return engines.Blame(err)
	}
	device, err := g.gpus.Choose(p)
	if err != nil {
		return err
	}
	device = device.Opening(ctx, new(sync.WaitGroup), p, func(text string) { g.Console().Log().Warn(text) })
	list, err := term.Follow(ctx, g.Console(), measuring, func(f *term.Follower) (l figureList, err error) {
		err = device.Using(ctx, p, f, func(gpu train.Engine) (err error) {
			m.store.Description.Pace, err = m.pace(ctx, gpu, f)
			return err
		})
		if err != nil {
			return l, err
		}
		if m.scan, err = m.store.Scan(m.tasks); err != nil {
			return l, err
		}
		for _, f := range chosen {
			line, err := m.listed(f.Jobs(opts.selection))
			if err != nil {
				return l, err
			}
			line.Name, line.Title = f.Label, f.Title
			l.Figures = append(l.Figures, line)
		}
		l.All, err = m.listed(m.tasks)
		l.Absent, l.Without = absent, without
		return l, err
	})
	if err != nil {
		return engines.Blame(err)
	}
	return g.Print(list, func(w io.Writer) { printFigureList(w, list, m.store.Description.Scale) })
}

// absent names the selected data sets that aren't here, and returns the flag that leaves them out; none if nothing
// would be left.
func (o *reproduceOptions) absent() (absent []string, without string, err error) {
	_, has, err := dataHere()
	if err != nil {
		return nil, "", err
	}
	absent = []string{}
	var present []string
	for _, name := range o.selection.Datasets {
		if has[name] {
			present = append(present, name)
		} else {
			absent = append(absent, name)
		}
	}
	if len(absent) == 0 || len(present) == 0 {
		return absent, "", nil
	}
	return absent, "--datasets " + strings.Join(present, ","), nil
}

// listed adds up tasks.
func (m missing) listed(tasks []campaign.Job) (listedFigure, error) {
	status, err := m.store.Status(tasks, m.scan)
	l := listedFigure{Presets: []string{}, Runs: status.Total, Missing: status.Todo(), Left: status.Left}
	for _, t := range tasks {
		w, _ := m.store.Estimate(t.Cell, m.store.Description.Pace) // Status has its error
		l.Models += w.Models
		l.Gradients += w.Gradients
		l.Seconds += w.Seconds * status.Correction()
		if preset := t.Preset(); !slices.Contains(l.Presets, preset) {
			l.Presets = append(l.Presets, preset)
		}
	}
	return l, err
}

func printFigureList(w io.Writer, list figureList, scale campaign.Scale) {
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
		text := f.Name + ": " + f.Title
		if len(f.Presets) > 0 {
			text += ": " + strings.Join(f.Presets, ", ")
		}
		term.Sentence(w, text)
	}
	if size := scale.String(); size != "" {
		term.Sentence(w, "Runs have "+size+".")
	}
	if len(list.Absent) > 0 {
		term.Sentence(w, "Not here, and downloaded when their runs begin: "+strings.Join(list.Absent, ", ")+". (CIFAR-10 takes the network resnet20 too.)")
	}
	if list.Without != "" {
		term.Sentence(w, "To leave them out: "+list.Without)
	}
	term.Sentence(w, "Detailed figures show the runs of the summary figures. Times are for training alone, by steps that were measured here and by the finished runs; loading, accounting and scoring come on top.")
}

// millions prints a number of gradients.
func millions(v float64) string {
	if v >= 1e10 {
		return fmt.Sprintf("%.1f G", v/1e9)
	}
	return release.Whole(v/1e6) + " M"
}
