package flags

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/term"
)

// Keep says how a run keeps its states.
type Keep struct{ Every time.Duration }

// Add gives a command the flag, with its default and its line of help.
func (k *Keep) Add(cmd *cobra.Command, usual time.Duration, usage string) {
	cmd.Flags().DurationVar(&k.Every, "save-every", usual, usage)
}

// Check checks the flag.
func (k Keep) Check() error {
	if k.Every < time.Millisecond {
		return term.Usagef("--save-every: want 1ms or more, got %v", k.Every)
	}
	return nil
}

// ShowDefault makes help show a list's default as flags take it.
func ShowDefault[T any](fs *pflag.FlagSet, name string, list []T) {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = fmt.Sprint(v)
	}
	fs.Lookup(name).DefValue = strings.Join(texts, ",")
}

// Curve says at which steps the model is scored for the released learning curve.
type Curve struct {
	points int
	cmd    *cobra.Command
}

// defaultPoints is the number of points of a curve: enough to see where it becomes flat, and few enough to take little
// time.
const defaultPoints = 20

// Add gives a command the flag.
func (c *Curve) Add(cmd *cobra.Command) {
	c.cmd = cmd
	cmd.Flags().IntVar(&c.points, "curve", defaultPoints, "about so many `points` of the released learning curve: scores on the public test set while the model trains, which cost no privacy; 0 for none")
}

// Check checks the flag.
func (c Curve) Check() error {
	if c.points < 0 {
		return term.Usagef("--curve: want 0 or more points, got %d", c.points)
	}
	return nil
}

// Points returns the number of points of a plan's curve; 0 for no curve. A plan that can't have one is an error only if
// the command line asks for it.
func (c Curve) Points(p *experiment.Plan) (int, error) {
	if err := p.CheckCurve(); err != nil {
		if c.cmd != nil && c.cmd.Flags().Changed("curve") && c.points > 0 {
			return 0, err
		}
		return 0, nil
	}
	return c.points, nil
}
