package tuner

// Kind is the kind of an event.
type Kind string

// The kinds of progress.
const (
	Started  Kind = "started"  // a run begins
	Stepped  Kind = "stepped"  // a run has taken some steps
	Finished Kind = "finished" // a run has ended, with a model or without
)

// PrivateProgress reports an event of tuning to the person who runs the program. It contains K and the progress of
// trials, so it must not be published.
type PrivateProgress struct {
	Kind   Kind
	Final  bool // the event concerns the final run
	Trial  int  // number of the trial that the event concerns, from 1, unless Final
	Trials int  // K

	TrialsDone  int // trials that have taken all their steps, or failed
	Step, Steps int // of the run

	// Done is the work done and Total the whole work, in expected per-sample gradients. If candidates differ in cost,
	// Total is an estimate until the final run begins.
	Done, Total float64

	// Score is a finished trial's score, or the final model's, on the public test set; -Inf without a model.
	Score float64
	// Err is the error of a finished trial that failed. It scores lowest and tuning goes on.
	Err error
}
