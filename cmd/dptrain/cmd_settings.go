package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

type settingsOptions struct{ settings }

func newSettingsCommand(g *global) *cobra.Command {
	var opts settingsOptions
	cmd := &cobra.Command{
		Use:   "settings",
		Short: "Print the settings that the flags resolve to, as a file for --config",
		Long: `Print the settings that the flags resolve to, as a file for --config.

From weakest to strongest: the preset of the data set, the file of --config,
--set, flags. All keys are shown, so this is also the list of them.`,
		Example: `  dptrain settings --dataset mnist --epsilon 2 >mine.yaml
  dptrain tune --config mine.yaml`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runSettings(cmd.Context(), g, opts) },
	}
	opts.addFlags(cmd)
	return cmd
}

func runSettings(ctx context.Context, g *global, opts settingsOptions) error {
	e, err := opts.resolve(ctx)
	if err != nil {
		return err
	}
	text, err := e.YAML()
	if err != nil {
		return err
	}
	if _, err := g.stdout.Write(text); err != nil {
		return fmt.Errorf("print settings: %w", err)
	}
	return nil
}
