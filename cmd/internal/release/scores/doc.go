// Package scores measures a model's outputs on labelled samples: what practitioners ask beyond the share of right
// answers. [Classify] measures the outputs of a classification, and [Temperature] finds what its outputs must be
// divided by for probabilities to be neither too certain nor too uncertain.
//
// Its functions are pure. On private samples their results are private statistics; nothing here reads any data.
package scores
