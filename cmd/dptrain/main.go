package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills
	code := execute(ctx, os.Args[1:], os.Stdout, os.Stderr, term.IsTerminal(int(os.Stderr.Fd())))
	stop()
	os.Exit(code)
}

// execute runs one command line and returns its exit code.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer, terminal bool) int {
	return (&global{gpus: nvidia, stdout: &checkedWriter{to: stdout}, stderr: stderr, terminal: terminal}).execute(ctx, args)
}

func (g *global) execute(ctx context.Context, args []string) int {
	root := newRootCommand(g)
	root.SetArgs(args)
	root.SetOut(g.stdout)
	root.SetErr(g.stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = g.stdout.failure() // of writes that nothing else checks, such as help
	}
	if err == nil {
		return codeOK
	}
	text := strings.ReplaceAll(err.Error(), "\n", "; ") // one line for each of joined errors
	fmt.Fprintln(g.stderr, "dptrain:", text+privateText(err, g.terminal || g.verbose))
	return exitCode(err)
}

func newRootCommand(g *global) *cobra.Command {
	root := group(&cobra.Command{
		Use:   "dptrain",
		Short: "Train models with differential privacy, tuning included",
		Long: `dptrain trains models with DP-SGD and DP-Adam and tunes their hyperparameters on
a random subset of the data, so that one privacy guarantee (epsilon, delta)
covers the tuning and the final training together.

Without flags, "dptrain tune" tunes and trains a small network on an embedded
data set: nothing is downloaded, and it takes less than a minute.

Standard output has results. Standard error is private: progress, timings,
warnings and errors can depend on private rows, and a scheduler's log keeps them.
If it isn't a terminal, it contains no number of trials and no contents of cells,
except with --verbose.

` + exitCodes,
		Example: `  dptrain tune                                      the embedded digits
  dptrain tune --dataset mnist --variant 1 --epsilon 3
  dptrain tune --dataset mnist --dry-run            plan, noise and epsilon; no data
  dptrain plan --dataset mnist --epsilon 4          plans that try each learning rate often enough
  dptrain account noise --dataset mnist --epsilon 2 the noise that a budget needs
  dptrain data list                                 what can be trained on
  dptrain report runs/mnist-20261122-100352         a web page about a run
  dptrain devices                                   the GPUs to train with, or what is missing`,
		SilenceErrors: true,
		SilenceUsage:  true,
	})
	root.SetFlagErrorFunc(flagError)
	root.PersistentFlags().BoolVar(&g.json, "json", false, "print results as JSON")
	root.PersistentFlags().BoolVar(&g.quiet, "quiet", false, "show warnings and errors only")
	root.PersistentFlags().BoolVar(&g.verbose, "verbose", false, "show the whole log and all of an error: private facts, such as scores, number of trials and cells of private rows, included")
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		if g.quiet && g.verbose {
			return usagef("--quiet and --verbose contradict each other; give one")
		}
		return nil
	}
	root.AddCommand(newTuneCommand(g), newTrainCommand(g), newPredictCommand(g), newEvaluateCommand(g), newPlanCommand(g), newAccountCommand(g), newFiguresCommand(g),
		newReportCommand(g),
		newDataCommand(g), newDevicesCommand(g), newSettingsCommand(g), newVersionCommand(g))
	return root
}
