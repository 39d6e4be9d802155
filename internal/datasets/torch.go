package datasets

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"

	"github.com/nlpodyssey/gopickle/pytorch"
	"github.com/nlpodyssey/gopickle/types"
)

// readTorch reads a state that PyTorch saved, tensors of float32 by name, and returns it in the safetensors format,
// which has numbers and no code. It drops a batch norm's unused number of batches.
//
// PyTorch's format is Python's pickle, whose instructions can call anything in Python. There is no Python here, and
// the library (github.com/nlpodyssey/gopickle) supports only tensors and containers. But it trusts the sizes in a file
// and skips missing values, and readTorch assumes that each tensor is in row-major order. So call readTorch only for
// files with a known checksum, and check its result by checkValues. The only such file has eight published digits of
// its checksum: a file forged to match them can end the program, but can't change a weight.
func readTorch(path string) (contents []byte, err error) {
	defer func() {
		if r := recover(); r != nil { // not supported by the library or by the code below
			contents, err = nil, invalidf("%s: read PyTorch's format: %v", path, r)
		}
	}()
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
		data := tensor.Source.(*pytorch.FloatStorage).Data[tensor.StorageOffset:][:product(tensor.Size)]
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

// tensorHeader is the header of one tensor in the safetensors format.
type tensorHeader struct {
	Type    string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}
