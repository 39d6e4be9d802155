package campaign

// Result is what a figure needs of a finished run.
type Result struct {
	Task

	Accuracy float64 // of the released model on the public test set, a share
	// Epsilon is that of the run's own guarantee. For a single run it is less than the cell's, the cost of the tuning.
	Epsilon, Delta float64

	// The hyperparameters of the released model.
	NoiseMultiplier   float64
	LearningRate      float64
	TunedLearningRate float64 // before it was scaled to the final run's data
	SamplingRate      float64
	ClippingNorm      float64
	Steps             int

	Trials    int     // K; 0 of a single run. Private.
	Seconds   float64 // of training, summed over trials and final run as if one came after the other. Private.
	Gradients float64 // of single samples, expected given K and the trials' hyperparameters. Private.

	MadeBy  string  // the program: version and commit
	Machine string  // engine, processor, cores; empty if the run doesn't say
	Seed    *uint64 // of a run whose guarantee is void
	Day     string  // of its beginning, YYYY-MM-DD
}
