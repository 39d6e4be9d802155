package enginetest

import (
	"fmt"

	"github.com/dptrain/dptrain/models"
)

// Networks lists the networks of the paper's experiments on images: cnn is MNIST's, mlp FashionMNIST's.
func Networks() []string { return []string{"cnn", "mlp"} }

// Network builds one of [Networks], for its own data set.
func Network(name string, o models.Options) (models.Network, error) {
	switch name {
	case "cnn", "mlp":
		return models.New(name, []int{1, 28, 28}, 10, o)
	}
	return models.Network{}, fmt.Errorf("no network %q; there are %v", name, Networks())
}
