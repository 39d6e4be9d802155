package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/campaign"
)

func newReproduceMergeCommand(g *global) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "merge FOLDER...",
		Short: "Take over the runs of campaigns on other machines",
		Long: `Copy the finished runs of other machines' campaigns into this one, and the records
of their releases into its ledger. FOLDER is a campaign's folder, or a folder of
runs that have the names of a campaign's. Runs of one name are independent
repetitions, since each draws its own randomness; they get the next free numbers.
A run that is here already isn't taken twice. A single run is taken with the
baseline whose hyperparameters it has, or not at all. If there is no campaign here, one
begins, of the same size and seed as the first FOLDER's. Afterwards "reproduce draw"
with more --repetitions draws them all.`,
		Example: `  dptrain reproduce merge /mnt/b/reproduction /mnt/c/reproduction
  dptrain reproduce draw --repetitions 30`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("%s wants the folder of at least one other campaign; see %[1]s --help", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runReproduceMerge(cmd.Context(), g, out, args) },
	}
	campaignFlag(cmd, &out)
	return cmd
}

// mergedCampaign is what "reproduce merge" prints as JSON for each folder.
type mergedCampaign struct {
	Folder    string `json:"folder"`
	Taken     int    `json:"taken"`
	Renamed   int    `json:"renamed"`
	Had       int    `json:"had"`
	Unended   int    `json:"unfinished"`
	Alone     int    `json:"without_baseline"`
	Elsewhere int    `json:"others"`
}

func runReproduceMerge(ctx context.Context, g *global, out string, folders []string) error {
	for _, folder := range folders { // before a campaign begins here
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return coded(codeInput, fmt.Errorf("merge %s: no such folder; give that of another machine's campaign, or of its runs", folder))
		}
	}
	d, err := merging(out, folders[0])
	if err != nil {
		return campaignError(err)
	}
	store, err := campaign.Open(out, d)
	if err != nil {
		return campaignError(err)
	}
	defer store.Close()
	var all []mergedCampaign
	for _, folder := range folders {
		m, err := await(ctx, "copying runs", func() (campaign.Merged, error) { return store.Merge(ctx, folder) })
		if err != nil {
			return campaignError(err)
		}
		all = append(all, mergedCampaign{folder, m.Taken, m.Renamed, m.Had, m.Unended, m.Alone, m.Elsewhere})
	}
	return g.print(all, func(w io.Writer) {
		for _, m := range all {
			text := counted(m.Taken) + " taken"
			for _, more := range []struct {
				n    int
				what string
			}{{m.Renamed, "as other repetitions"}, {m.Had, "here already"}, {m.Unended, "unfinished"}, {m.Alone, "single without a baseline here"}, {m.Elsewhere, "of other kinds"}} {
				if more.n > 0 {
					text += fmt.Sprintf(", %d %s", more.n, more.what)
				}
			}
			rows(w, [2]string{relative(m.Folder), text})
		}
	})
}

// merging returns the description of the campaign that takes runs: the one that is there, or else one like another.
func merging(out, like string) (campaign.Description, error) {
	look, err := campaign.Look(out)
	if err == nil {
		return look.Description, nil
	}
	if !errors.Is(err, campaign.ErrNone) {
		return campaign.Description{}, err
	}
	look, err = campaign.Look(like)
	if errors.Is(err, campaign.ErrNone) {
		return campaign.Description{}, nil // of runs at full size, without a seed
	}
	if err != nil {
		return campaign.Description{}, err
	}
	d := look.Description
	d.Pace = nil // of another machine
	d.Command, err = goOn(look, out)
	return d, err
}
