package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/engines"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/reproduce/campaign"
	"github.com/dptrain/dptrain/cmd/internal/term"
)

func newReproduceStatusCommand(g *global) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Count a campaign's runs, and estimate the time left",
		Long: `Count a campaign's runs: how many of how many are done, which failed, and how long
the rest is likely to take, by the pace that was measured at its beginning,
corrected by the time that the finished runs took. It can be asked while another
process works on the campaign.`,
		Example: `  dptrain reproduce status
  dptrain reproduce status --out reproduction-quick --json`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runReproduceStatus(cmd.Context(), g, out) },
	}
	cmd.Flags().StringVar(&out, "out", "reproduction", "`folder` of the campaign")
	_ = cmd.MarkFlagDirname("out") // it fails for unknown flags only
	return cmd
}

// campaignStatus is what "reproduce status" prints as JSON.
type campaignStatus struct {
	campaign.Status
	Command string `json:"command"`
}

func runReproduceStatus(ctx context.Context, g *global, out string) error {
	r, err := term.Await(ctx, "reading the runs", func() (r campaignStatus, err error) {
		store, err := campaign.Look(out)
		if err != nil {
			return r, err
		}
		tasks, err := store.Jobs()
		if err != nil {
			return r, err
		}
		scan, err := store.Scan(tasks)
		if err != nil {
			return r, err
		}
		s, err := store.Status(tasks, scan)
		return campaignStatus{s, store.Description.Command}, err
	})
	if err != nil {
		return engines.Blame(err)
	}
	return g.Print(r, func(w io.Writer) { printCampaignStatus(w, r) })
}

func printCampaignStatus(w io.Writer, r campaignStatus) {
	pairs := release.Facts{{"runs", fmt.Sprintf("%d of %d done", r.Finished, r.Total)}}
	if r.Running > 0 {
		pairs.Add("running", counted(r.Running))
	}
	if r.Out > 0 {
		pairs.Add("handed out", counted(r.Out)+" to a cluster's workers")
	}
	if r.CutOff > 0 {
		pairs.Add("cut off", counted(r.CutOff)+", which can go on")
	}
	if r.Repeated > 0 {
		pairs.Add("repeated", counted(r.Repeated)+" that gave no model at first")
	}
	if len(r.Failed) > 0 {
		pairs.Add("failed", fmt.Sprintf("%d, twice: %s", len(r.Failed), strings.Join(r.Failed[:min(3, len(r.Failed))], ", ")))
	}
	if r.Orphans > 0 {
		pairs.Add("left out", counted(r.Orphans)+" whose baseline failed")
	}
	if r.Finished > 0 {
		text := lasting(r.Took)
		if r.Expected > 0 { // the pace is known
			text += fmt.Sprintf("; %s had been expected", lasting(r.Expected))
		}
		pairs.Add("trained", text)
	}
	if left := r.Todo(); left > 0 {
		text := counted(left)
		if r.Left > 0 {
			text = "about " + lasting(r.Left)
		}
		pairs.Add("left", text)
		if r.Command != "" {
			pairs.Add("go on", r.Command)
		}
	}
	term.Rows(w, pairs)
}
