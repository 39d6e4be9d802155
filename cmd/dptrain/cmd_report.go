package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/flags"
	"github.com/dptrain/dptrain/cmd/internal/page"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/term"
)

func newReportCommand(g *global) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "report RUN...",
		Short: "Make a web page about a run, or a comparison of several",
		Long: `Make a web page about a run: what was released, its guarantee, the plan, and what
the plan costs by other deltas and bounds. Of several runs it is a
comparison, with what they cost together. RUN is a run's folder, or its folder
"released", which may have been copied elsewhere.

The page is made from the released files and the run's public manifest alone, and
may be published with them. It is one HTML file that needs nothing else: no
script, no font, no network. The same release gives the same bytes.

A second page shows what the guarantee doesn't cover: the trials, their scores
and times. It goes into the folder "private", and is never to be published.

One run's pages are RUN/report.html and RUN/private/report.html by default. With
--out FILE.html the second one goes into a folder "private" beside that file.
Older reports are replaced; other files are never.

` + term.ExitCodes,
		Example: `  dptrain report runs/mnist-20261122-100352
  dptrain report runs/mnist-* --out mnist.html`,
		Args: term.Takes(1, math.MaxInt, "the folder of at least one run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runReport(cmd.Context(), g, out, flags.WithoutLedger(args))
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "`file` for the public page, ending in .html; of one run by default its report.html")
	return cmd
}

// reportResult is what a report prints as JSON.
type reportResult struct {
	Page        string `json:"page"`
	PrivatePage string `json:"private_page,omitempty"`
}

// reported is what a report is made from.
type reported struct {
	runs    []page.Run
	private []*page.PrivateRun
	place   page.Place
}

func runReport(ctx context.Context, g *global, out string, dirs []string) error {
	r, err := term.Await(ctx, "reading the runs", func() (reported, error) { return readReported(out, dirs) })
	if err != nil {
		return reportError(err)
	}
	costs, err := accountReported(ctx, g, r.runs)
	if err != nil {
		return reportError(err)
	}
	public, err := page.Public(r.runs, costs)
	if err != nil {
		return err
	}
	private, err := page.Private(r.runs, r.private)
	if err != nil {
		return err
	}
	paths, err := r.place.Write(r.runs, public, private)
	if err != nil {
		return reportError(err)
	}
	result, lines := reportResult{Page: paths[0]}, release.Facts{{"page", paths[0]}}
	if len(paths) > 1 {
		result.PrivatePage = paths[1]
		lines.Add("keep private", paths[1]+"  trials, scores, times")
	}
	return g.Print(result, func(w io.Writer) { term.Rows(w, lines) })
}

// readReported reads the runs, and finds out before any work whether the pages can be written.
func readReported(out string, dirs []string) (r reported, err error) {
	dirs = slices.Clone(dirs)
	for i, dir := range dirs {
		dir = flags.Store{}.Run(dir)
		dirs[i] = dir
		run, err := page.Open(dir)
		if err != nil {
			return r, err
		}
		private, err := page.OpenPrivate(dir)
		if err != nil {
			return r, err
		}
		for i, other := range r.runs {
			if run.Same(other) {
				return r, term.Usagef("%s and %s are the same release, whose cost would count twice; give one of them", dirs[i], dir)
			}
		}
		r.runs, r.private = append(r.runs, run), append(r.private, private)
	}
	switch {
	case out != "":
		r.place, err = page.PlaceAt(out)
	case len(dirs) > 1:
		return r, term.Usagef("a report on %d runs has no place of its own; give a file by --out, such as runs.html", len(dirs))
	default:
		r.place, err = page.PlaceOf(dirs[0])
	}
	if err != nil {
		return r, err
	}
	return r, r.place.Check(slices.ContainsFunc(r.private, func(p *page.PrivateRun) bool { return p != nil }))
}

// accountReported computes the accounting curves of all runs.
func accountReported(ctx context.Context, g *global, runs []page.Run) ([]page.Accounting, error) {
	const doing = "computing the accounting curves"
	return term.Follow(ctx, g.Console(), doing, func(f *term.Follower) ([]page.Accounting, error) {
		costs := make([]page.Accounting, len(runs))
		for i, r := range runs {
			var err error
			costs[i], err = page.Account(ctx, r, func(done, total int) {
				f.Progress(float64(i)+float64(done)/float64(total), float64(len(runs)), doing)
			})
			if err != nil {
				return nil, err
			}
		}
		return costs, nil
	})
}

// reportError adds exit code and remedy.
func reportError(err error) error {
	switch {
	case errors.Is(err, page.ErrExists):
		return term.Inputf("%w; give another file by --out, or remove it", err)
	case errors.Is(err, page.ErrPlace):
		return term.Coded(term.CodeUsage, fmt.Errorf("%w; give a file in a folder that exists by --out, such as report.html", err))
	}
	return err
}
