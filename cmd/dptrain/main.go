package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/build"
	"github.com/dptrain/dptrain/cmd/internal/engines"
	"github.com/dptrain/dptrain/cmd/internal/flags"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/cmd/internal/ui"
)

func main() {
	results, log := ui.ScreenOf(os.Stdout), ui.ScreenOf(os.Stderr)
	g := newGlobal(engines.NVIDIA, &term.Output{To: os.Stdout, Screen: results}, os.Stderr, log)
	g.stop = untilSignal
	os.Exit(g.execute(context.Background(), os.Args[1:]))
}

// stoppable are the commands that save or remove something when a signal stops them. It ends all others at once.
var stoppable = []string{"tune", "train", "resume", "reproduce", "worker", "serve"}

// untilSignal returns a context that is done once a signal asks the process to end. A second one kills.
func untilSignal(ctx context.Context) context.Context {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(ctx, signals...)
	context.AfterFunc(ctx, stop)
	return ctx
}

// execute runs one command line and returns its exit code.
func (g *global) execute(ctx context.Context, args []string) int {
	root := newRootCommand(g)
	root.SetArgs(args)
	root.SetOut(g.Out)
	root.SetErr(g.Err)
	err := root.ExecuteContext(g.Showing(ctx))
	if err == nil {
		err = g.Out.Failure() // of writes that nothing else checks, such as help
	}
	if err == nil {
		return term.CodeOK
	}
	code := exitCode(err)
	g.Fail(err, code, args)
	return code
}

func newRootCommand(g *global) *cobra.Command {
	root := term.Group(&cobra.Command{
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

` + term.ExitCodes,
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
	root.SetFlagErrorFunc(flags.Error)
	root.PersistentFlags().BoolVar(&g.JSON, "json", false, "print results as JSON, and an error as a JSON object on standard error")
	root.Version = build.Current().String()
	root.SetVersionTemplate("{{.Version}}\n")
	// Without cobra's -v.
	root.Flags().Bool("version", false, "print the version and its commit; dptrain version says more")
	root.PersistentFlags().BoolVar(&g.Quiet, "quiet", false, "show warnings and errors only")
	root.PersistentFlags().BoolVar(&g.Verbose, "verbose", false, "show the whole log and all of an error: private facts, such as scores, number of trials and cells of private rows, included")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if g.Quiet && g.Verbose {
			return term.Usagef("--quiet and --verbose contradict each other; give one")
		}
		if g.stop != nil && slices.Contains(stoppable, cmd.Name()) {
			cmd.SetContext(g.stop(cmd.Context()))
		}
		return nil
	}
	root.AddCommand(newTuneCommand(g), newTrainCommand(g), newResumeCommand(g), newRunsCommand(g), newLedgerCommand(g),
		newPredictCommand(g), newEvaluateCommand(g), newExportCommand(g), newPlanCommand(g), newAccountCommand(g), newFiguresCommand(g),
		newReportCommand(g), newReproduceCommand(g), newWorkerCommand(g), newClusterCommand(g), newDataCommand(g), newDevicesCommand(g), newSettingsCommand(g), newVersionCommand(g))
	flags.Once(root)
	// Flags are explained in long lines, which a terminal would break inside of words.
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", g.Out.Screen.Width())))
	return root
}

// global is the terminal of a command line, and what else commands take from the machine.
type global struct {
	term.Terminal
	stop func(context.Context) context.Context // watches for signals; nil doesn't
	gpus engines.GPUs
}

func newGlobal(gpus engines.GPUs, stdout *term.Output, stderr io.Writer, screen ui.Screen) *global {
	return &global{Terminal: term.Terminal{Out: stdout, Err: stderr, Screen: screen}, gpus: gpus}
}

func newVersionCommand(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, its commit, and the engines that it was built with",
		Args:  term.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := engines.Current()
			return g.Print(v, func(w io.Writer) { fmt.Fprintln(w, v) })
		},
	}
}
