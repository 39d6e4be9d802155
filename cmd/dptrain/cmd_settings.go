package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/dptrain/dptrain/cmd/internal/flags"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/term"
)

type settingsOptions struct {
	flags.Settings
	presets bool
}

func newSettingsCommand(g *global) *cobra.Command {
	var opts settingsOptions
	cmd := &cobra.Command{
		Use:   "settings",
		Short: "Print the settings that the flags resolve to, as a file for --config",
		Long: `Print the settings that the flags resolve to, as a file for --config.

From weakest to strongest: the preset, the file of --config, and --set and flags,
which mustn't contradict each other. All keys are shown, so this is also the list
of them. With --json the file is JSON, which --config takes too. With --presets
it lists the presets instead, which hold the paper's experiments.`,
		Example: `  dptrain settings --presets
  dptrain settings --preset mnist-adam --epsilon 2 >mine.yaml
  dptrain tune --config mine.yaml`,
		Args: term.NoArgs,
		RunE: func(*cobra.Command, []string) error { return runSettings(g, opts) },
	}
	opts.Add(cmd)
	opts.AddFiles(cmd)
	cmd.Flags().BoolVar(&opts.presets, "presets", false, "list the presets, with a line each")
	return cmd
}

func runSettings(g *global, opts settingsOptions) error {
	if opts.presets {
		return listPresets(g)
	}
	e, err := opts.Resolve()
	if err != nil {
		return err
	}
	text, err := e.YAML()
	if err != nil {
		return err
	}
	return g.printSettings(string(text))
}

// printSettings prints a settings file. With --json it has the same keys; JSON is YAML too, so --config takes both.
func (g *global) printSettings(text string) error {
	var settings any
	if err := yaml.Unmarshal([]byte(text), &settings); err != nil {
		return fmt.Errorf("print settings: %w", err)
	}
	return g.Print(settings, func(w io.Writer) { fmt.Fprint(w, text) })
}

// presetLine is a line of the list of presets.
type presetLine struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

func listPresets(g *global) error {
	var lines []presetLine
	var pairs release.Facts
	for _, name := range settings.Presets() {
		description, err := settings.Describe(name)
		if err != nil {
			return err
		}
		lines = append(lines, presetLine{name, description})
		pairs.Add(name, description)
	}
	return g.Print(lines, func(w io.Writer) { term.Rows(w, pairs) })
}
