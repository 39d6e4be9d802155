package flags

import (
	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/term"
)

// Curve says at which steps the model is scored for the released learning curve.
type Curve struct {
	points, every int
	cmd           *cobra.Command
}

// defaultPoints is the number of points of a curve: enough to see where it becomes flat, and few enough to take little
// time.
const defaultPoints = 20

// Add gives a command the flags.
func (c *Curve) Add(cmd *cobra.Command) {
	c.cmd = cmd
	fs := cmd.Flags()
	fs.IntVar(&c.points, "curve", defaultPoints, "about so many `points` of the released learning curve: scores on the public test set while the model trains, which cost no privacy; 0 for none")
	fs.IntVar(&c.every, "curve-every", 0, "a point of the released learning curve each so many `steps`, instead of --curve")
}

// given reports whether the command line asks for a curve.
func (c Curve) given() bool {
	return c.cmd != nil && (c.cmd.Flags().Changed("curve") && c.points > 0 || c.cmd.Flags().Changed("curve-every"))
}

// Check checks the flags.
func (c Curve) Check() error {
	switch changed := func(flag string) bool { return c.cmd != nil && c.cmd.Flags().Changed(flag) }; {
	case c.points < 0:
		return term.Usagef("--curve: want 0 or more points, got %d", c.points)
	case changed("curve-every") && c.every < 1:
		return term.Usagef("--curve-every: want 1 step or more, got %d; --curve 0 leaves the learning curve out", c.every)
	case changed("curve-every") && changed("curve"):
		return term.Usagef("--curve and --curve-every contradict each other; give one")
	}
	return nil
}

// Spacing returns the number of points of a plan's curve, or the steps between two; 0 and 0 for no curve. A plan that
// can't have one is an error only if the command line asks for it.
func (c Curve) Spacing(p *experiment.Plan) (points, every int, err error) {
	if err := p.CheckCurve(); err != nil {
		if c.given() {
			return 0, 0, err
		}
		return 0, 0, nil
	}
	if c.every > 0 {
		return 0, c.every, nil
	}
	return c.points, 0, nil
}
