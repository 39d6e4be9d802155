package paper

import "slices"

// differs says what is done otherwise than in the paper.
func differs(accountings []string) []string {
	lines := []string{
		"The model of IMDB reads the first 256 tokens of a review, and tokens are those of bert-base-cased. The paper names Opacus's example and no length.",
		"The ResNet-20 of CIFAR-10 has its public weights of CIFAR-100 and rectifiers, with which they were trained. The paper's network has tempered sigmoids there, but only its last layer is trained, and that has none.",
		"The tempered sigmoid is tanh. The paper doesn't give its scale, temperature and offset.",
		"The bounds are computed at integer Rényi orders 2 to 256. The paper names its orders in one figure alone.",
		"Mean numbers of trials are 15 for the learning rate and 45 for all hyperparameters. The paper says of the latter that they are higher.",
		"The paper's figures exist as pictures alone, so single points can't be compared with theirs. Claims are those of its text.",
	}
	if slices.Contains(accountings, "best") || slices.Contains(accountings, "tight") {
		lines = append([]string{"The paper's accounting is “paper” here. “tight” and “best” are smaller bounds for the same training, so the same epsilon takes less noise; the paper has neither."}, lines...)
	}
	return lines
}
