//go:build unix

package cuda

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/internal/durable"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// childVariable names the folder of the run that a child of [TestKilledOnADevice] carries out.
const childVariable = "DPTRAIN_TEST_RUN"

// A tuning on a device whose process is killed, again and again, ends in the model of one that isn't.
func TestKilledOnADevice(t *testing.T) {
	if dir := os.Getenv(childVariable); dir != "" {
		tuneInFolder(t, dir)
		return
	}
	kernelsOrSkip(t) // compiled here, once
	child := func(dir string) (*exec.Cmd, *bytes.Buffer) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledOnADevice$")
		cmd.Env = append(os.Environ(), childVariable+"="+dir)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		return cmd, &out
	}
	model := func(dir string) [sha256.Size]byte {
		text, err := os.ReadFile(filepath.Join(dir, "result"))
		if err != nil {
			t.Fatal(err)
		}
		return sha256.Sum256(text)
	}
	whole, killed := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "killed")
	cmd, out := child(whole)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	draw := rand.New(rand.NewPCG(1, 2))
	points := []string{"state-1", "outcomes", "state-0", "result"}
	kills := 0
	for patience := 500 * time.Millisecond; ; patience = patience * 5 / 4 {
		cmd, out := child(killed)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		point := filepath.Join(killed, points[draw.IntN(len(points))])
		_, before := os.Stat(point)
		deadline := time.Now().Add(time.Duration(draw.Int64N(int64(patience))))
		for time.Now().Before(deadline) && len(ended) == 0 {
			if _, err := os.Stat(point); err == nil && before != nil {
				time.Sleep(time.Duration(draw.IntN(20)) * time.Millisecond)
				break
			}
			time.Sleep(100 * time.Microsecond)
		}
		if len(ended) == 0 {
			_ = cmd.Process.Kill()
		}
		err := <-ended
		if err == nil {
			break
		}
		if !strings.Contains(err.Error(), "killed") {
			t.Fatalf("%v: %s", err, out)
		}
		kills++
	}
	if model(killed) != model(whole) {
		t.Errorf("after %d kills another model is released", kills)
	}
	t.Logf("killed %d times", kills)
}

// tuneInFolder begins a tuning on the emulated device, or goes on with it, in a folder.
func tuneInFolder(t *testing.T, dir string) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	const n, width = 60, 3
	samples, labels := make([]float32, n*width), make([]int32, n)
	for i := range samples {
		samples[i] = float32(math.Sin(float64(i)))
		labels[i/width] = int32(i / width % 2)
	}
	data, err := train.NewClassification(samples, labels, 2)
	if err != nil {
		t.Fatal(err)
	}
	model, err := models.New("linear", []int{width}, 2, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := kernelsOrSkip(t).Device(seeds.Add(1))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := tuner.NewPlan(tuner.Settings{
		Method: tuner.Variant2, SubsetRate: 0.3, Repetitions: accountant.Poisson{Mean: 3}, Samples: n,
		Space:     tuner.LearningRates(tuner.Candidate{SamplingRate: 0.2, Steps: 8, NoiseMultiplier: 1, ClippingNorm: 1}, 0.1, 1),
		Optimizer: train.Adam(0),
	}, train.InsecureKey(4))
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine([]driver.Device{d}, "cuda, emulated", emulatedThreads, nil)
	defer e.Close()
	result, err := tuner.Executor{
		Engine: e, Model: model, Data: data.Data, Test: data, Keeper: train.Keeper{Store: folder(dir), Every: time.Millisecond},
	}.Run(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := folder(dir).Save("result", fmt.Append(nil, result.Released)); err != nil {
		t.Fatal(err)
	}
}

// folder is a [train.Store].
type folder string

func (f folder) path(name string) string { return filepath.Join(string(f), name) }

func (f folder) Save(name string, content []byte) error {
	if err := durable.Replace(f.path(name), "new-*", content, 0o600, nil); err != nil {
		return err
	}
	return durable.SyncFolder(string(f))
}

func (f folder) Load(name string) ([]byte, error) {
	content, err := os.ReadFile(f.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return content, err
}

func (f folder) Remove(name string) error { return os.RemoveAll(f.path(name)) }
