package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dptrain/dptrain/internal/strict"
)

const metadataKey = "__metadata__"

// Tensor is a named array in row-major order, of floats or of integers.
type Tensor struct {
	Name  string
	Shape []int
	Data  []float32
	Ints  []int64 // counters, such as PyTorch's num_batches_tracked
}

// The types of the format that this package reads and writes, and their sizes in bytes.
const (
	float32Type = "F32"
	int64Type   = "I64"
)

var sizes = map[string]int64{float32Type: 4, int64Type: 8}

func (t Tensor) dtype() string {
	if t.Ints != nil {
		return int64Type
	}
	return float32Type
}

type tensorHeader struct {
	DType   string   `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// Encode returns the tensors as a safetensors file, in the order of their names. The bytes depend on the tensors and
// the metadata alone.
func Encode(tensors []Tensor, metadata map[string]string) ([]byte, error) {
	tensors = slices.Clone(tensors)
	slices.SortFunc(tensors, func(a, b Tensor) int { return strings.Compare(a.Name, b.Name) })

	header := map[string]any{}
	if len(metadata) > 0 {
		header[metadataKey] = metadata
	}
	var offset int64
	for _, t := range tensors {
		if t.Name == metadataKey || !utf8.ValidString(t.Name) {
			return nil, fmt.Errorf("encode safetensors: %q can't be the name of a tensor", t.Name)
		}
		if _, twice := header[t.Name]; twice {
			return nil, fmt.Errorf("encode safetensors: two tensors are called %q", t.Name)
		}
		n := int64(len(t.Data) + len(t.Ints))
		if want, err := elements(t.Shape); err != nil || n != want {
			return nil, fmt.Errorf("encode safetensors: tensor %q of shape %v has %d values", t.Name, t.Shape, n)
		}
		if len(t.Data) > 0 && t.Ints != nil {
			return nil, fmt.Errorf("encode safetensors: tensor %q is of two types", t.Name)
		}
		end := offset + sizes[t.dtype()]*n
		shape := append([]int{}, t.Shape...) // a scalar's shape is [], not null
		header[t.Name] = tensorHeader{t.dtype(), shape, [2]int64{offset, end}}
		offset = end
	}
	text, err := json.Marshal(header)
	if err != nil {
		return nil, fmt.Errorf("encode safetensors: %w", err)
	}
	if pad := len(text) % 8; pad != 0 { // the format wants data on an 8-byte boundary
		text = append(text, bytes.Repeat([]byte{' '}, 8-pad)...)
	}

	file := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	file = append(file, text...)
	file = slices.Grow(file, int(offset))
	for _, t := range tensors {
		for _, v := range t.Data {
			file = binary.LittleEndian.AppendUint32(file, math.Float32bits(v))
		}
		for _, v := range t.Ints {
			file = binary.LittleEndian.AppendUint64(file, uint64(v))
		}
	}
	return file, nil
}

// Decode returns a safetensors file's tensors, in the order of their bytes, and its metadata. It accepts only the types
// of [Tensor], and only files whose tensors cover the data exactly once, as the format demands.
func Decode(file []byte) ([]Tensor, map[string]string, error) {
	tensors, metadata, err := decode(file)
	if err != nil {
		return nil, nil, fmt.Errorf("decode safetensors: %w", err)
	}
	return tensors, metadata, nil
}

func decode(file []byte) ([]Tensor, map[string]string, error) {
	if len(file) < 8 {
		return nil, nil, fmt.Errorf("%d bytes can't hold the length of a header", len(file))
	}
	size := binary.LittleEndian.Uint64(file)
	if size > uint64(len(file)-8) {
		return nil, nil, fmt.Errorf("header of %d bytes in a file of %d", size, len(file))
	}
	headers, metadata, err := decodeHeader(file[8 : 8+size])
	if err != nil {
		return nil, nil, fmt.Errorf("header: %w", err)
	}

	data := file[8+size:]
	tensors := make([]Tensor, len(headers))
	var end int64
	for i, h := range headers {
		n, err := elements(h.Shape)
		size, known := sizes[h.DType]
		switch {
		case !known:
			return nil, nil, fmt.Errorf("tensor %q: type %q; only F32 and I64 are supported", h.name, h.DType)
		case err != nil:
			return nil, nil, fmt.Errorf("tensor %q: %w", h.name, err)
		case h.Offsets[0] != end || h.Offsets[1] != end+size*n || h.Offsets[1] > int64(len(data)):
			return nil, nil, fmt.Errorf("tensor %q: offsets %v of shape %v don't follow byte %d within %d", h.name, h.Offsets, h.Shape, end, len(data))
		}
		tensors[i] = tensorOf(h, data[end:end+size*n])
		end += size * n
	}
	if end != int64(len(data)) {
		return nil, nil, fmt.Errorf("%d bytes belong to no tensor", int64(len(data))-end)
	}
	return tensors, metadata, nil
}

// tensorOf reads a tensor's bytes. Their number fits its type and shape.
func tensorOf(h namedHeader, data []byte) Tensor {
	t := Tensor{Name: h.name, Shape: h.Shape}
	if h.DType == int64Type {
		t.Ints = make([]int64, len(data)/8)
		for k := range t.Ints {
			t.Ints[k] = int64(binary.LittleEndian.Uint64(data[8*k:]))
		}
		return t
	}
	t.Data = make([]float32, len(data)/4)
	for k := range t.Data {
		t.Data[k] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*k:]))
	}
	return t
}

type namedHeader struct {
	name string
	tensorHeader
}

// decodeHeader returns a header's tensors in the order of their offsets, and the metadata.
func decodeHeader(text []byte) ([]namedHeader, map[string]string, error) {
	if !utf8.Valid(text) {
		return nil, nil, errors.New("not UTF-8")
	}
	members, err := strict.Object(text)
	if err != nil {
		return nil, nil, err
	}
	var headers []namedHeader
	var metadata map[string]string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if name == metadataKey {
			err = strict.Decode(members[name], &metadata)
		} else {
			h := namedHeader{name: name}
			err = strict.Decode(members[name], &h.tensorHeader)
			headers = append(headers, h)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%q: %w", name, err)
		}
	}
	slices.SortStableFunc(headers, func(a, b namedHeader) int {
		// If two tensors begin at the same offset, one is empty and comes first.
		return cmp.Or(cmp.Compare(a.Offsets[0], b.Offsets[0]), cmp.Compare(a.Offsets[1], b.Offsets[1]))
	})
	return headers, metadata, nil
}

// elements returns the number of values of a shape, at most 2^40 so that byte offsets can't overflow.
func elements(shape []int) (int64, error) {
	const maximum = 1 << 40
	n := int64(1)
	for _, d := range shape {
		if d < 0 || d > 0 && n > maximum/int64(d) {
			return 0, fmt.Errorf("impossible shape %v", shape)
		}
		n *= int64(d)
	}
	return n, nil
}
