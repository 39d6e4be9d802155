package engines

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/cuda"
)

func TestMachineCountsItsCores(t *testing.T) {
	for workers, want := range map[int]string{1: ", 1 core", 2: ", 2 cores"} {
		if got := Machine(settings.Performance{Workers: workers}, nil); !strings.HasSuffix(got, want) {
			t.Errorf("%d: %s", workers, got)
		}
	}
}

// The error of a full GPU names the GPU and a remedy.
func TestFullMemoryIsBlamed(t *testing.T) {
	err := Blame(fmt.Errorf("load on some GPU: %w", cuda.ErrOutOfMemory))
	if code, _ := term.CodeOf(err); code != term.CodeDevice || !strings.Contains(err.Error(), "load on some GPU") || !strings.Contains(err.Error(), "end what else uses the GPU") {
		t.Errorf("exit code %d: %v", code, err)
	}
	if other := errors.New("another fault"); Blame(other) != other {
		t.Error("a GPU is blamed for another fault")
	}
}
