package datasets

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/internal/safetensors"
)

// torchTensor is a tensor in a state of PyTorch.
type torchTensor struct {
	name          string
	class         string // of its values: FloatStorage
	values        []byte
	size          int // of the values, as it claims
	offset        int
	shape, stride []int
}

// floatTensor has the values 0.5, 1.5, 2.5 and so on.
func floatTensor(name string, shape, stride []int) torchTensor {
	n := product(shape)
	var b []byte
	for i := range n {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(i)+0.5))
	}
	return torchTensor{name: name, class: "FloatStorage", values: b, size: n, shape: shape, stride: stride}
}

// saveTorch writes a state as torch.save does since version 1.6: a zip with a pickle, of protocol 2, and the values.
// Python's pickletools lists the instructions.
func saveTorch(t testing.TB, tensors ...torchTensor) []byte {
	var pickle bytes.Buffer
	text := func(s string) {
		fmt.Fprintf(&pickle, "X%s%s", binary.LittleEndian.AppendUint32(nil, uint32(len(s))), s)
	}
	number := func(n int) { fmt.Fprintf(&pickle, "J%s", binary.LittleEndian.AppendUint32(nil, uint32(n))) }
	tuple := func(numbers []int) {
		pickle.WriteString("(")
		for _, n := range numbers {
			number(n)
		}
		pickle.WriteString("t")
	}
	pickle.WriteString("\x80\x02ccollections\nOrderedDict\n)R(")
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i, tensor := range tensors {
		text(tensor.name)
		pickle.WriteString("ctorch._utils\n_rebuild_tensor_v2\n((")
		text("storage")
		fmt.Fprintf(&pickle, "ctorch\n%s\n", tensor.class)
		text(fmt.Sprint(i))
		text("cpu")
		number(tensor.size)
		pickle.WriteString("tQ")
		number(tensor.offset)
		tuple(tensor.shape)
		tuple(tensor.stride)
		pickle.WriteString("\x89ccollections\nOrderedDict\n)RtR")
		out, err := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("state/data/%d", i), Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		out.Write(tensor.values)
	}
	pickle.WriteString("u.")
	out, err := w.Create("state/data.pkl")
	if err != nil {
		t.Fatal(err)
	}
	out.Write(pickle.Bytes())
	w.Close()
	return b.Bytes()
}

func torchFile(t testing.TB, contents []byte) string {
	path := filepath.Join(t.TempDir(), "state.pt")
	if err := os.WriteFile(path, contents, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// state has two tensors, and one that readTorch drops.
func state() []torchTensor {
	return []torchTensor{
		floatTensor("b.weight", []int{2, 3}, []int{3, 1}),
		{name: "b.num_batches_tracked", class: "LongStorage", values: make([]byte, 8), size: 1},
		floatTensor("a.bias", []int{1}, []int{1}),
	}
}

func TestReadTorch(t *testing.T) {
	tensors, err := readTorch(torchFile(t, saveTorch(t, state()...)))
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(tensors)
	if want := "[{b.weight [2 3] [0.5 1.5 2.5 3.5 4.5 5.5] []} {a.bias [1] [0.5] []}]"; got != want {
		t.Errorf("tensors %s, want %s", got, want)
	}
	if err := checkValues(tensors, valuesOf(state())); err != nil {
		t.Error(err)
	}
	checkError(t, checkValues(tensors, checksumOf(nil)), ErrInvalid, "the values of the tensors are others")
}

func checksumOf(b []byte) Checksum {
	return Checksum(fmt.Sprintf("%s%x", sha256Prefix, sha256.Sum256(b)))
}

// valuesOf returns the checksum of the values of all tensors that readTorch doesn't drop.
func valuesOf(tensors []torchTensor) Checksum {
	var values []byte
	for _, t := range tensors {
		if t.class == "FloatStorage" {
			values = append(values, t.values...)
		}
	}
	return checksumOf(values)
}

func TestReadTorchRefuses(t *testing.T) {
	with := func(change func(*torchTensor)) []byte {
		tensors := state()
		change(&tensors[0])
		return saveTorch(t, tensors...)
	}
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"cut off", cut(saveTorch(t, state()...), 30), "read PyTorch's format: "},
		{"doubles", with(func(x *torchTensor) { x.class, x.size, x.shape = "DoubleStorage", 3, []int{3, 1} }), "read PyTorch's format: "},
		{"other class", with(func(x *torchTensor) { x.class = "CursedStorage" }), "read PyTorch's format: "},
		{"offset", with(func(x *torchTensor) { x.offset = 1 }), "read PyTorch's format: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readTorch(torchFile(t, c.file))
			checkError(t, err, ErrInvalid, c.want)
		})
	}
}

// The library skips missing values, which the checksum of all values detects.
func TestTorchValuesMissing(t *testing.T) {
	tensors := state()
	tensors[0].values = tensors[0].values[4:]
	read, err := readTorch(torchFile(t, saveTorch(t, tensors...)))
	if err == nil {
		err = checkValues(read, valuesOf(state()))
	}
	checkError(t, err, ErrInvalid, "")
}

// The same values may be in PyTorch's format or in safetensors.
func TestWeightsOfEitherFile(t *testing.T) {
	published := saveTorch(t, state()...)
	tensors, err := readTorch(torchFile(t, published))
	if err != nil {
		t.Fatal(err)
	}
	converted := []byte(`{"b.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"a.bias":{"dtype":"F32","shape":[1],"data_offsets":[24,28]}}`)
	converted = append(binary.LittleEndian.AppendUint64(nil, uint64(len(converted))), converted...)
	converted = slices.Concat(converted, state()[0].values, state()[2].values)
	e := &entry{
		info: Info{Name: "net"},
		files: []file{{
			name: "net.pt", sum: checksumOf(published)[:len(sha256Prefix)+8],
			or: &file{name: "net.safetensors", size: int64(len(converted)), sum: checksumOf(converted)},
		}},
		values: valuesOf(state()),
	}
	for name, contents := range map[string][]byte{"net.pt": published, "net.safetensors": converted} {
		o := options(t)
		o.Dir = t.TempDir()
		writeTree(t, filepath.Join(o.Dir, "net"), map[string]string{name: string(contents)})
		got, err := in(e, o, func(s *store) ([]safetensors.Tensor, error) { return s.readWeights(t.Context()) })
		if diff := cmp.Diff(got, tensors); err != nil || diff != "" {
			t.Errorf("%s: %s, error %v", name, diff, err)
		}
	}
	e.values = checksumOf(nil)
	o := options(t)
	o.Dir = t.TempDir()
	writeTree(t, filepath.Join(o.Dir, "net"), map[string]string{"net.pt": string(published)})
	_, err = in(e, o, func(s *store) ([]safetensors.Tensor, error) { return s.readWeights(t.Context()) })
	checkError(t, err, ErrInvalid, "net.pt: the values of the tensors are others")
}

func TestUnknownWeights(t *testing.T) {
	_, err := Weights(t.Context(), "mnist", options(t))
	if want := `unknown data set "mnist" (known: resnet20)`; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestPublishedWeights(t *testing.T) {
	skipWithout(t, "resnet20")
	if tensors, err := Weights(t.Context(), "resnet20", Options{}); err != nil || len(tensors) == 0 {
		t.Errorf("%d tensors, error %v", len(tensors), err)
	}
}
