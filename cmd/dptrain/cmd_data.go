package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/internal/datasets"
)

func newDataCommand(g *global) *cobra.Command {
	cmd := term.Group(&cobra.Command{
		Use:   "data",
		Short: "List, download and verify data sets; describe public files of your own",
		Long: `List, download and verify data sets, and the weights of networks that their features are made with.

Files are looked for in $` + datasets.DirVariable + `/NAME first, then in the user's cache, where
downloads go. "dptrain tune" downloads what it lacks; fetch does so beforehand. An archive may also lie
unpacked in its folder: its files are then compared with the official ones where their checksums are known,
and may be trained on if they are others in the right format.

Without a network here, "dptrain data verify NAME" lists the files that are missing and their addresses:
fetch them elsewhere, put them into a folder NAME, and set ` + datasets.DirVariable + ` to the folder that this one is in.
CIFAR-10 is trained on as features of resnet20, which has to be fetched too.`,
		Example: `  dptrain data list
  dptrain data fetch mnist
  dptrain data verify imdb          what is missing, and where it is published
  ` + datasets.DirVariable + `=/data dptrain data verify`,
	})
	cmd.AddCommand(
		newDataDescribeCommand(g),
		newDataSchemaCommand(g),
		&cobra.Command{
			Use:   "list",
			Short: "What can be trained on, and where it is",
			Args:  term.NoArgs,
			RunE:  func(*cobra.Command, []string) error { return runDataList(g) },
		},
		&cobra.Command{
			Use:               "fetch NAME",
			Short:             "Download a data set, or what is missing of it, and verify it",
			Args:              term.Takes(1, 1, "the name of one data set"),
			ValidArgsFunction: cobra.FixedCompletions(datasets.AllNames(), cobra.ShellCompDirectiveNoFileComp),
			RunE:              func(cmd *cobra.Command, args []string) error { return runDataFetch(cmd.Context(), g, args[0]) },
		},
		&cobra.Command{
			Use:               "verify [NAME]",
			Short:             "Compare the files of one data set, or of all that are here, with their checksums",
			Args:              term.Takes(0, 1, "the name of one data set"),
			ValidArgsFunction: cobra.FixedCompletions(datasets.AllNames(), cobra.ShellCompDirectiveNoFileComp),
			RunE:              func(cmd *cobra.Command, args []string) error { return runDataVerify(cmd.Context(), g, args...) },
		},
	)
	return cmd
}

func runDataList(g *global) error {
	infos, err := datasets.List(datasets.Options{})
	if err != nil {
		return err
	}
	return g.Print(infos, func(w io.Writer) {
		sets := [][]string{{"NAME", "TRAINING", "TEST", "CLASSES", "SIZE", "WHERE", "DESCRIPTION"}}
		weights := [][]string{{"WEIGHTS", "SIZE", "WHERE", "DESCRIPTION"}}
		sources := [][]string{{"NAME", "SOURCE", "LICENCE"}}
		for _, i := range infos {
			if i.Kind == datasets.KindWeights {
				weights = append(weights, []string{i.Name, megabytes(i.Bytes), where(i), i.Description})
			} else {
				sets = append(sets, []string{i.Name, release.Grouped(i.Train), release.Grouped(i.Test), strconv.Itoa(i.Classes), megabytes(i.Bytes), where(i), i.Description})
			}
			sources = append(sources, []string{i.Name, i.Source, i.Licence})
		}
		term.Columns(w, sets...)
		fmt.Fprintln(w)
		term.Columns(w, weights...)
		fmt.Fprintln(w)
		term.Columns(w, sources...)
	})
}

func where(i datasets.Info) string {
	switch {
	case i.Where == "":
		return "to be downloaded"
	case i.Edition == datasets.Unofficial:
		return i.Where + " (not the official edition)"
	case i.Edition == datasets.Unverified:
		return i.Where + " (unpacked, without checksums)"
	}
	return i.Where
}

func megabytes(n int64) string {
	if n == 0 {
		return "-"
	}
	return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + " MB"
}

func runDataFetch(ctx context.Context, g *global, name string) error {
	_, err := term.Follow(ctx, g.Console(), "fetching "+name, func(f *term.Follower) (any, error) {
		return nil, datasets.Fetch(ctx, name, datasets.Options{Progress: experiment.Downloads(f)})
	})
	if err != nil {
		return err
	}
	return runDataVerify(ctx, g, name)
}

// verified is the state of one file of a data set.
type verified struct {
	Dataset string `json:"dataset"`
	datasets.FileStatus
}

// runDataVerify verifies the named data sets, or without names those of which files are here. It prints the state of
// every file, and returns an error for the first missing or damaged one.
func runDataVerify(ctx context.Context, g *global, names ...string) error {
	named := len(names) > 0
	if !named {
		names = datasets.AllNames()
	}
	files := []verified{}
	for _, name := range names {
		found, err := term.Await(ctx, "verifying "+name, func() ([]datasets.FileStatus, error) {
			return datasets.Verify(ctx, name, datasets.Options{})
		})
		if err != nil {
			return err
		}
		if named || slices.ContainsFunc(found, func(f datasets.FileStatus) bool { return f.State != datasets.Missing }) {
			for _, f := range found {
				files = append(files, verified{name, f})
			}
		}
	}
	err := g.Print(files, func(w io.Writer) {
		var lines [][]string
		for _, f := range files {
			line := []string{string(f.State), f.Dataset, f.Name, f.Path}
			if len(f.Addresses) > 0 {
				line[3] = f.Addresses[0]
			}
			if f.Note != "" {
				line = append(line, f.Note)
			}
			lines = append(lines, line)
		}
		term.Columns(w, lines...)
	})
	if err != nil {
		return err
	}
	for _, f := range files {
		switch f.State {
		case datasets.Missing:
			return term.Inputf("%s: %s is missing; get it by dptrain data fetch %[1]s", f.Dataset, f.Name)
		case datasets.Corrupt:
			if f.Note != "" {
				return term.Inputf("%s: %s; remove the folder and run dptrain data fetch %[1]s", f.Dataset, f.Note)
			}
			return term.Inputf("%s: %s is damaged or another edition; remove it and run dptrain data fetch %[1]s", f.Dataset, f.Path)
		}
	}
	return nil
}
