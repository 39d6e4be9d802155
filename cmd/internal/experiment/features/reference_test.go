package features_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/experiment/features"
)

// state is a network's tensors by PyTorch's names, in float64.
type state map[string][]float64

// readState reads a safetensors file by the format's description, without dptrain's reader.
func readState(t *testing.T, file []byte) state {
	t.Helper()
	end := 8 + binary.LittleEndian.Uint64(file)
	var header map[string]struct {
		Offsets [2]int `json:"data_offsets"`
	}
	if err := json.Unmarshal(file[8:end], &header); err != nil {
		t.Fatal(err)
	}
	delete(header, "__metadata__")
	s := state{}
	for name, h := range header {
		for at := h.Offsets[0]; at < h.Offsets[1]; at += 4 {
			s[name] = append(s[name], float64(math.Float32frombits(binary.LittleEndian.Uint32(file[int(end)+at:]))))
		}
	}
	return s
}

// stateOf converts weights that a test has drawn.
func stateOf(w features.Weights) state {
	s := state{}
	for name, tensor := range w {
		for _, v := range tensor.Values {
			s[name] = append(s[name], float64(v))
		}
	}
	return s
}

// picture is an image of channels, each size by size.
type picture struct {
	channels, size int
	at             []float64
}

//go:norace
func (p picture) pixel(c, y, x int) float64 {
	if y < 0 || x < 0 || y >= p.size || x >= p.size {
		return 0
	}
	return p.at[(c*p.size+y)*p.size+x]
}

// convolve is PyTorch's conv2d without a bias and with a padding of half the kernel. The race detector would make it,
// which is slow and starts nothing, ten times slower.
//
//go:norace
func (s state) convolve(name string, p picture, out, kernel, stride int) picture {
	w, size := s[name+".weight"], (p.size+stride-1)/stride
	q := picture{out, size, make([]float64, out*size*size)}
	for o := range out {
		for y := range size {
			for x := range size {
				sum := 0.0
				for c := range p.channels {
					for i := range kernel {
						for j := range kernel {
							sum += w[((o*p.channels+c)*kernel+i)*kernel+j] * p.pixel(c, y*stride+i-kernel/2, x*stride+j-kernel/2)
						}
					}
				}
				q.at[(o*size+y)*size+x] = sum
			}
		}
	}
	return q
}

// normalise is PyTorch's batch norm in evaluation mode, in place.
func (s state) normalise(name string, p picture) picture {
	for c := range p.channels {
		mean, variance := s[name+".running_mean"][c], s[name+".running_var"][c]
		for i := c * p.size * p.size; i < (c+1)*p.size*p.size; i++ {
			p.at[i] = (p.at[i]-mean)/math.Sqrt(variance+1e-5)*s[name+".weight"][c] + s[name+".bias"][c]
		}
	}
	return p
}

func rectify(p picture) picture {
	for i, v := range p.at {
		p.at[i] = math.Max(v, 0)
	}
	return p
}

// features evaluates the network as its paper describes it, with its batch norms as they are, in plain loops and
// float64.
func (s state) features(image []float32) []float64 {
	p := picture{3, 32, make([]float64, len(image))}
	for i, v := range image {
		p.at[i] = float64(v)
	}
	p = rectify(s.normalise("bn1", s.convolve("conv1", p, 16, 3, 1)))
	for _, block := range []struct {
		name        string
		out, stride int
	}{
		{"layer1.0", 16, 1}, {"layer1.1", 16, 1}, {"layer1.2", 16, 1},
		{"layer2.0", 32, 2}, {"layer2.1", 32, 1}, {"layer2.2", 32, 1},
		{"layer3.0", 64, 2}, {"layer3.1", 64, 1}, {"layer3.2", 64, 1},
	} {
		q := rectify(s.normalise(block.name+".bn1", s.convolve(block.name+".conv1", p, block.out, 3, block.stride)))
		q = s.normalise(block.name+".bn2", s.convolve(block.name+".conv2", q, block.out, 3, 1))
		if block.stride == 2 {
			p = s.normalise(block.name+".downsample.1", s.convolve(block.name+".downsample.0", p, block.out, 1, 2))
		}
		for i, v := range p.at {
			q.at[i] += v
		}
		p = rectify(q)
	}
	out := make([]float64, p.channels)
	for c := range out {
		for _, v := range p.at[c*64 : (c+1)*64] {
			out[c] += v / 64
		}
	}
	return out
}
