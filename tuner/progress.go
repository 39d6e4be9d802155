package tuner

// Kind says what happened.
type Kind string

// The kinds of progress.
const (
	Started  Kind = "started"  // a run begins
	Stepped  Kind = "stepped"  // a run has taken some steps
	Finished Kind = "finished" // a run is over, well or not
)

// PrivateProgress tells the person who runs the tuning how far it came. It contains K and the course of
// trials, so it must not be published.
type PrivateProgress struct {
	Kind   Kind
	Final  bool // it is about the final run
	Trial  int  // otherwise about this trial, 1..Trials
	Trials int  // K

	TrialsDone  int // that have taken all their steps, or failed
	Step, Steps int // of the run

	// Done and Total measure all work in expected gradients of single samples. Total is an estimate
	// until the final run begins if candidates differ in cost.
	Done, Total float64

	// Score is a finished trial's score, or the final model's, on the public test set; -Inf without a model.
	Score float64
	// Err is why a finished trial failed. It scores lowest and tuning goes on.
	Err error
}
