// Package scores measures a model's outputs on labelled samples, beyond the share of right answers. [Classify] measures
// the outputs of a classification, and [Temperature] finds the divisor of the outputs that makes probabilities neither
// too certain nor too uncertain.
//
// Its functions are pure. On private samples their results are private statistics; nothing here reads any data.
package scores
