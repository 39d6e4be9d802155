package datasets

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/nlpodyssey/gopickle/pytorch"
	"github.com/nlpodyssey/gopickle/types"
)

// readTorch reads a state that PyTorch saved, tensors of float32 by name, and returns it in the safetensors format,
// which has numbers and no code. It drops a batch norm's number of batches, which isn't used.
//
// PyTorch's format is Python's pickle, whose instructions can call anything in Python. There is no Python here, and
// the library (github.com/nlpodyssey/gopickle) supports only tensors and containers. But it trusts the sizes in a
// file and skips missing values. So call readTorch only for files with a known checksum, and check its result by
// checkValues. The only such file has eight published digits of its checksum: a file forged to match them can end the
// program, but can't change a weight.
func readTorch(path string) (contents []byte, err error) {
	defer func() {
		if r := recover(); r != nil { // the library doesn't support it
			contents, err = nil, invalidf("%s: read PyTorch's format: %v", path, r)
		}
	}()
	if err := looksLikeTorch(path); err != nil {
		return nil, err
	}
	loaded, err := pytorch.Load(path)
	if err != nil {
		return nil, invalidf("%s: read PyTorch's format: %v", path, err)
	}
	state, ok := loaded.(*types.OrderedDict)
	if !ok {
		return nil, invalidf("%s: holds a %T, want a model's state", path, loaded)
	}
	header, values := map[string]tensorHeader{}, []byte{}
	for at := state.List.Front(); at != nil; at = at.Next() {
		entry := at.Value.(*types.OrderedDictEntry)
		name, isName := entry.Key.(string)
		tensor, isTensor := entry.Value.(*pytorch.Tensor)
		if !isName || !isTensor {
			return nil, invalidf("%s: entry %v is a %T, want a tensor", path, entry.Key, entry.Value)
		}
		if strings.HasSuffix(name, ".num_batches_tracked") {
			continue
		}
		data, err := floats(tensor)
		if err != nil {
			return nil, invalidf("%s: tensor %s: %v", path, name, err)
		}
		first := len(values)
		for _, x := range data {
			values = binary.LittleEndian.AppendUint32(values, math.Float32bits(x))
		}
		header[name] = tensorHeader{"F32", tensor.Size, [2]int{first, len(values)}}
	}
	text, err := json.Marshal(header)
	if err != nil {
		return nil, err
	}
	contents = binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	return append(append(contents, text...), values...), nil
}

// torchMagic has the beginnings of torch.save's files: a zip since version 1.6, and before that a pickled number.
var torchMagic = []string{"PK\x03\x04", "\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."}

// looksLikeTorch returns an error for a file with another beginning: in an empty one the library would search forever.
func looksLikeTorch(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > maxTorch {
		return invalidf("%s: read PyTorch's format: %d bytes, want at most %d", path, info.Size(), maxTorch)
	}
	start := make([]byte, 16)
	n, _ := io.ReadFull(file, start)
	for _, magic := range torchMagic {
		if bytes.HasPrefix(start[:n], []byte(magic)) {
			return nil
		}
	}
	return invalidf("%s: read PyTorch's format: it begins with %x", path, start[:n])
}

// maxTorch bounds a file in bytes. It is four times the size of the only one read.
const maxTorch = 4 << 20

// tensorHeader is the header of one tensor in the safetensors format.
type tensorHeader struct {
	Type    string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// floats returns a tensor's values, which must lie in row-major order without gaps.
func floats(t *pytorch.Tensor) ([]float32, error) {
	storage, ok := t.Source.(*pytorch.FloatStorage)
	if !ok {
		return nil, fmt.Errorf("its values are a %T, want float32", t.Source)
	}
	if len(t.Stride) != len(t.Size) {
		return nil, fmt.Errorf("its %d axes have %d strides", len(t.Size), len(t.Stride))
	}
	stride := 1
	for i := len(t.Size) - 1; i >= 0; i-- {
		// An axis of length 1 may have any stride; longer ones end within the values.
		if t.Size[i] < 1 || t.Size[i] > len(storage.Data)/stride || t.Size[i] > 1 && t.Stride[i] != stride {
			return nil, fmt.Errorf("shape %v with the strides %v doesn't fit %d values", t.Size, t.Stride, len(storage.Data))
		}
		stride *= t.Size[i]
	}
	if t.StorageOffset < 0 || t.StorageOffset > len(storage.Data)-stride {
		return nil, fmt.Errorf("begins at value %d of %d", t.StorageOffset, len(storage.Data))
	}
	return storage.Data[t.StorageOffset:][:stride], nil
}
