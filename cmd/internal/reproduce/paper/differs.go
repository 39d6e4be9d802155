package paper

import "slices"

// differs lists the differences from the paper.
func differs(accountings []string) []string {
	lines := []string{
		"IMDB's reviews are cut to 256 tokens of bert-base-cased. The paper names Opacus's example as its source, and no length.",
		"The ResNet-20 of CIFAR-10 has public weights of CIFAR-100 and rectifiers, with which they were trained. The paper names tempered sigmoids for it, but only its last layer is trained, and that has none.",
		"The tempered sigmoid is tanh. The paper doesn't give its scale, temperature and offset.",
		"The paper's accounting is done at the integer Rényi orders 2 to 256. The paper names its orders for one figure alone, which goes to 24.",
		"The mean number of trials is 45 where all hyperparameters are tuned. The paper says of these experiments that it is higher than 15, and names 45 for the bounds and the savings.",
		"The paper names the sampling rates and the orders of its figure of RDP curves, and not its noise multipliers and numbers of steps. The first ones here are those of the bounds.",
		"Three sentences aren't judged, since they name no cases or no number: that variant 1 has a slightly higher accuracy than variant 2 “in many cases” with DP-Adam (captions of the detailed figures), that actual speed-ups are slightly smaller than the ratios of gradients (Computational Savings), and that smaller q would often be better.",
		"Points of the paper's figures can't be compared: it gives no numbers for them. What is compared is its text.",
	}
	if slices.Contains(accountings, "best") || slices.Contains(accountings, "tight") {
		lines = append([]string{"The paper's accounting is “paper” here. “tight” and “best” are smaller bounds for the same training, so the same epsilon takes less noise; the paper has neither."}, lines...)
	}
	return lines
}
