package page

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"

	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/train"
)

// header is what a page shows of a safetensors file. The file's numbers, which may be gigabytes, aren't read.
type header struct {
	parameters int64
	score      *report.Score
}

// maxHeader is the maximum size of a safetensors header, as in the format's reference implementation.
const maxHeader = 100 << 20

func readHeader(root *os.Root, name string) (header, error) {
	file, size, err := open(root, name, math.MaxInt64)
	if err != nil {
		return header{}, err
	}
	defer file.Close()
	var prefix [8]byte
	if _, err := io.ReadFull(file, prefix[:]); err != nil {
		return header{}, fmt.Errorf("%w: %s/%s has no safetensors header", ErrNoRun, root.Name(), name)
	}
	length := binary.LittleEndian.Uint64(prefix[:])
	if length > maxHeader || int64(length) > size-8 {
		return header{}, fmt.Errorf("%w: %s/%s: a safetensors header of %d bytes", ErrNoRun, root.Name(), name, length)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(file, text); err != nil {
		return header{}, fmt.Errorf("%w: %s/%s: %w", ErrNoRun, root.Name(), name, err)
	}
	h, err := parseHeader(text)
	if err != nil {
		return header{}, fmt.Errorf("%w: %s/%s: %w", ErrNoRun, root.Name(), name, err)
	}
	return h, nil
}

// parseHeader counts the elements of all tensors and reads the score, which package report writes as metadata.
func parseHeader(text []byte) (header, error) {
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(text, &entries); err != nil {
		return header{}, err
	}
	var h header
	for name, entry := range entries {
		if name == "__metadata__" {
			var metadata map[string]string
			if err := json.Unmarshal(entry, &metadata); err != nil {
				return header{}, fmt.Errorf("metadata: %w", err)
			}
			h.score = scoreOf(metadata)
			continue
		}
		var tensor struct {
			Shape []int64 `json:"shape"`
		}
		if err := json.Unmarshal(entry, &tensor); err != nil {
			return header{}, fmt.Errorf("tensor %q: %w", name, err)
		}
		n := int64(1)
		for _, d := range tensor.Shape {
			if d < 0 || d > 0 && n > math.MaxInt32*1024/d {
				return header{}, fmt.Errorf("tensor %q has shape %v", name, tensor.Shape)
			}
			n *= d
		}
		h.parameters += n
	}
	return h, nil
}

func scoreOf(metadata map[string]string) *report.Score {
	for _, metric := range []train.Metric{train.Accuracy, train.R2} {
		text, ok := metadata[report.Score{Metric: metric}.Key()]
		if !ok {
			text, ok = metadata[report.Score{Metric: metric, HeldOut: new([2]float64)}.Key()]
		}
		if !ok {
			continue
		}
		if v, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			return &report.Score{Metric: metric, Value: v}
		}
	}
	return nil
}
