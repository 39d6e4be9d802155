package campaign

// Result has the numbers of a finished run that figures need.
type Result struct {
	Job

	Accuracy float64 // of the released model on the public test set, a share
	// Epsilon is the run's own. A single run's is less than its cell's: it pays no tuning.
	Epsilon float64

	// The hyperparameters of the released model.
	NoiseMultiplier   float64
	LearningRate      float64
	TunedLearningRate float64 // before it was scaled to the final run's data
	SamplingRate      float64
	ClippingNorm      float64
	Steps             int

	Trials    int     // K; 0 for a single run. Private.
	Seconds   float64 // of training, summed over trials and final run. Private.
	Gradients float64 // expected number of single samples' gradients, given the drawn trials. Private.

	MadeBy  string // version and commit of the program
	Machine string // engine, processor, cores; empty if the record has none
	Day     string // of its beginning, YYYY-MM-DD
}
