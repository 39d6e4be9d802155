package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/dptrain/dptrain/train"
)

// Adversarial moves the critic down the cost and the generator up, by RMSprop, and keeps the critic's parameters
// within the limit (Arjovsky, Chintala and Bottou, "Wasserstein GAN", 2017).
type Adversarial struct{ Limit float32 }

func (a Adversarial) Name() string              { return fmt.Sprintf("adversarial %v", a.Limit) }
func (a Adversarial) State(lengths []int) []int { return lengths } // a mean square for each parameter

func (a Adversarial) Move(u *train.Update) error {
	const keep = 0.99
	rate := u.LearningRate * math.Sqrt(1-math.Pow(keep, float64(u.Step))) // since mean squares begin with 0
	for i, parameters := range u.Parameters {
		generates, squares := strings.HasPrefix(u.Names[i], "generator"), u.State[i]
		for j, g := range u.Gradient[i] {
			squares[j] = keep*squares[j] + (1-keep)*g*g
			step := float32(rate/(math.Sqrt(float64(squares[j]))+1e-8)) * g
			if generates {
				parameters[j] += step
			} else {
				parameters[j] = min(max(parameters[j]-step, -a.Limit), a.Limit)
			}
		}
	}
	return nil
}
