package datasets

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/nlpodyssey/gopickle/pytorch"
	"github.com/nlpodyssey/gopickle/types"

	"github.com/dptrain/dptrain/internal/safetensors"
)

// resnet20Entry returns a ResNet-20 trained on CIFAR-100, which computes the features of the paper's experiments on
// CIFAR-10. Its authors publish it in PyTorch's format; a safetensors file with the same values may replace it.
func resnet20Entry() *entry {
	return &entry{
		info: Info{
			Name:        "resnet20",
			Kind:        KindWeights,
			Description: "ResNet-20 trained on CIFAR-100 by chenyaofo, 68.83 % of its test set",
			Classes:     100,
			Licence:     "BSD 3-clause, as its repository",
			Source:      "https://github.com/chenyaofo/pytorch-cifar-models",
			Citation:    "He, Zhang, Ren and Sun: Deep residual learning for image recognition, 2015",
		},
		files: []file{{
			name: "cifar100_resnet20-23dac2f1.pt",
			// Only the beginning of its SHA-256 is published, in its name. So resnet20Values checks its values.
			sum:  sha256Prefix + "23dac2f1",
			urls: []string{"https://github.com/chenyaofo/pytorch-cifar-models/releases/download/resnet/cifar100_resnet20-23dac2f1.pt"},
			or: &file{
				name: "resnet20-cifar100.safetensors", size: 1_128_928,
				sum: sha256Prefix + "d2192f623cdb5463d258477ab6ebaa04d7e98382f3866e50f98605c57e3c27df",
			},
		}},
		values: sha256Prefix + "6fee783366dc3cbcd3ab1293add7cfdcfe38c70fbb4e6a7b5c4b6302dd9f11b9",
	}
}

// Weights returns the tensors of a trained network, which have torchvision's names, in the order of their file. It
// downloads a missing file, and verifies a checksum of the values, which doesn't depend on the file's format. It
// returns the errors of [Open].
func Weights(ctx context.Context, name string, o Options) ([]safetensors.Tensor, error) {
	e, err := lookup(weights(), name)
	if err != nil {
		return nil, err
	}
	return in(e, o, func(s *store) ([]safetensors.Tensor, error) { return s.readWeights(ctx) })
}

func (s *store) readWeights(ctx context.Context) (tensors []safetensors.Tensor, err error) {
	path, contents, err := s.readFile(ctx, s.files[0])
	if err != nil {
		return nil, err
	}
	if filepath.Ext(path) == ".pt" {
		tensors, err = readTorch(path)
	} else if tensors, _, err = safetensors.Decode(contents); err != nil {
		err = invalidf("%v", err)
	}
	if err == nil {
		err = checkValues(tensors, s.values)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return tensors, nil
}

// checkValues checks the values of tensors, as bytes one after the other, against their checksum.
func checkValues(tensors []safetensors.Tensor, want Checksum) error {
	hash := sha256.New()
	for _, t := range tensors {
		_ = binary.Write(hash, binary.LittleEndian, t.Data) // a hash takes all
	}
	if sum := want.of(hash); sum != want {
		return invalidf("the values of the tensors are others: their %s", want.differs(sum))
	}
	return nil
}

// readTorch reads a state that PyTorch saved, tensors of float32 by name. It drops a batch norm's unused number of
// batches.
//
// PyTorch's format is Python's pickle, whose instructions can call anything in Python. There is no Python here, and
// the library (github.com/nlpodyssey/gopickle) supports only tensors and containers. But it trusts the sizes in a file
// and skips missing values, and readTorch assumes that each tensor is in row-major order. So call readTorch only for
// files with a known checksum, and check its result by checkValues. The only such file has eight published digits of
// its checksum: a file forged to match them can end the program, but can't change a weight.
func readTorch(path string) (tensors []safetensors.Tensor, err error) {
	defer func() {
		if r := recover(); r != nil { // not supported by the library or by the code below
			tensors, err = nil, invalidf("read PyTorch's format: %v", r)
		}
	}()
	loaded, err := pytorch.Load(path)
	if err != nil {
		return nil, invalidf("read PyTorch's format: %v", err)
	}
	state, ok := loaded.(*types.OrderedDict)
	if !ok {
		return nil, invalidf("holds a %T, want a model's state", loaded)
	}
	for at := state.List.Front(); at != nil; at = at.Next() {
		entry := at.Value.(*types.OrderedDictEntry)
		name, isName := entry.Key.(string)
		tensor, isTensor := entry.Value.(*pytorch.Tensor)
		if !isName || !isTensor {
			return nil, invalidf("entry %v is a %T, want a tensor", entry.Key, entry.Value)
		}
		if strings.HasSuffix(name, ".num_batches_tracked") {
			continue
		}
		data := tensor.Source.(*pytorch.FloatStorage).Data[tensor.StorageOffset:][:product(tensor.Size)]
		tensors = append(tensors, safetensors.Tensor{Name: name, Shape: tensor.Size, Data: data})
	}
	return tensors, nil
}
