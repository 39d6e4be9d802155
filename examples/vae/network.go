package main

import (
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
	G "gorgonia.org/gorgonia"
)

const pixels, hidden, latent = 784, 128, 12

// network returns the reconstruction of an image, and the bound on its likelihood (Kingma and Welling, "Auto-Encoding
// Variational Bayes", 2014, Appendix B), for pixels with a normal law around the reconstruction. Each step draws new
// numbers for each sample. A prediction has the mean of the code and of the noise.
func network() (train.Model, error) {
	const batch = 2 // any: training forms its own batches
	return models.Build(batch, func(b *models.Builder) (output, cost *G.Node) {
		x := b.Input("image", 1, 28, 28)
		x = b.Do(G.Reshape(x, []int{batch, pixels}))
		noisy := b.Do(G.Add(x, b.GaussianNoise("corruption", 0, 0.5, pixels)))
		h := b.Do(G.Tanh(b.Linear("encoder", noisy, hidden)))
		mean, half := b.Linear("mean", h, latent), b.Linear("half the log variance", h, latent)
		deviation := b.Do(G.Exp(half))
		code := b.Do(G.Add(mean, b.Do(G.HadamardProd(deviation, b.GaussianNoise("code", 0, 1, latent)))))
		output = b.Linear("pixels", b.Do(G.Tanh(b.Linear("decoder", code, hidden))), pixels)

		far := b.Do(G.Sum(b.Do(G.Square(b.Do(G.Sub(x, output))))))
		spread := b.Do(G.Sum(b.Do(G.Sub(b.Do(G.Add(b.Do(G.Square(mean)), b.Do(G.Square(deviation)))), b.Do(G.Add(half, half))))))
		return output, b.Do(G.Mul(b.Do(G.Add(far, spread)), G.NewConstant(float32(0.5))))
	})
}
