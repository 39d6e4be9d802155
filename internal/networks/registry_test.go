package networks_test

import (
	"testing"

	"github.com/dptrain/dptrain/internal/networks"
)

func TestSpecifications(t *testing.T) {
	if !networks.Activated("mlp:7") || !networks.Activated("cnn") || networks.Activated("linear") || networks.Activated("embedding") {
		t.Error("activations stand in front of every layer but the first")
	}
	if networks.Check("mlp:7") != nil || networks.Check("mlp:x") == nil {
		t.Error("Check and New disagree")
	}
}
