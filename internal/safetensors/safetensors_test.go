package safetensors

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// sameBits compares values by their bits: NaN payloads and signed zeros must survive.
var sameBits = cmp.Comparer(func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) })

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[ -~é]{0,8}`), 0, 5, rapid.ID).Draw(t, "names")
		want := []Tensor{}
		for _, name := range names {
			shape := rapid.SliceOfN(rapid.IntRange(0, 4), 0, 3).Draw(t, "shape")
			n, err := elements(shape)
			if err != nil {
				t.Fatal(err)
			}
			bits := rapid.SliceOfN(rapid.Uint32(), int(n), int(n)).Draw(t, "bits")
			data := make([]float32, n)
			for i, b := range bits {
				data[i] = math.Float32frombits(b)
			}
			tensor := Tensor{Name: name, Shape: append([]int{}, shape...), Data: data}
			if rapid.Bool().Draw(t, "integers") {
				tensor.Data, tensor.Ints = nil, rapid.SliceOfN(rapid.Int64(), int(n), int(n)).Draw(t, "ints")
			}
			want = append(want, tensor)
		}
		metadata := rapid.MapOfN(rapid.StringMatching(`[a-z]{1,4}`), rapid.StringMatching(`[ -~]*`), 1, 3).Draw(t, "metadata")

		file, err := Encode(want, metadata)
		if err != nil {
			t.Fatal(err)
		}
		got, gotMetadata, err := Decode(file)
		if err != nil {
			t.Fatal(err)
		}
		byName := func(a, b Tensor) int { return strings.Compare(a.Name, b.Name) }
		slices.SortFunc(want, byName)
		slices.SortFunc(got, byName)
		if diff := cmp.Diff(want, got, sameBits); diff != "" {
			t.Fatalf("tensors (-want +got)\n%s", diff)
		}
		if diff := cmp.Diff(metadata, gotMetadata); diff != "" {
			t.Fatalf("metadata (-want +got)\n%s", diff)
		}
	})
}

// The example of the format's own page, written by hand, with a scalar beside it.
func TestLayout(t *testing.T) {
	file, err := Encode([]Tensor{{Name: "b", Shape: []int{1, 2}, Data: []float32{1, -2}}, {Name: "c", Ints: []int64{-2}}, {Name: "a", Data: []float32{0.5}}}, map[string]string{"model": "cnn"})
	if err != nil {
		t.Fatal(err)
	}
	header := `{"__metadata__":{"model":"cnn"},"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1,2],"data_offsets":[4,12]},"c":{"dtype":"I64","shape":[],"data_offsets":[12,20]}}`
	header += strings.Repeat(" ", -len(header)&7)
	want := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	want = append(want, header...)
	want = append(want, 0, 0, 0, 0x3f, 0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
	if !slices.Equal(file, want) {
		t.Errorf("got  %q\nwant %q", file, want)
	}
}

func TestEncodeRefuses(t *testing.T) {
	for _, c := range []struct {
		name    string
		tensors []Tensor
	}{
		{"two of a name", []Tensor{{Name: "a", Data: []float32{1}}, {Name: "a", Data: []float32{1}}}},
		{"reserved name", []Tensor{{Name: "__metadata__", Data: []float32{1}}}},
		{"wrong size", []Tensor{{Name: "a", Shape: []int{3}, Data: []float32{1}}}},
		{"not UTF-8", []Tensor{{Name: "\xff", Data: []float32{1}}}},
		{"of two types", []Tensor{{Name: "a", Shape: []int{2}, Data: []float32{1}, Ints: []int64{1}}}},
	} {
		if _, err := Encode(c.tensors, nil); err == nil {
			t.Errorf("%s: no error", c.name)
		}
	}
}

// Other programs order tensors differently.
func TestDecodeAnyOrder(t *testing.T) {
	got, _, err := Decode(file(`{"a":{"dtype":"F32","shape":[],"data_offsets":[4,8]},"b":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}`, 0, 0, 0, 0x3f, 0, 0, 0x80, 0x3f))
	if err != nil || got[0].Name != "b" || got[0].Data[0] != 0.5 || got[1].Data[0] != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

func file(header string, data ...byte) []byte {
	f := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(f, header...), data...)
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct {
		name, want string
		file       []byte
	}{
		{"empty", "0 bytes can't hold", nil},
		{"header beyond the end", "header of 9 bytes in a file of 10", []byte{9, 0, 0, 0, 0, 0, 0, 0, '{', '}'}},
		{"huge header", "header of 18446744073709551615 bytes", []byte("\xff\xff\xff\xff\xff\xff\xff\xff")},
		{"not an object", "not a JSON object", file(`[]`)},
		{"after the object", "something follows", file(`{}{}`)},
		{"other type", `type "F64"`, file(`{"a":{"dtype":"F64","shape":[],"data_offsets":[0,8]}}`, 0, 0, 0, 0, 0, 0, 0, 0)},
		{"odd integer", "offsets", file(`{"a":{"dtype":"I64","shape":[],"data_offsets":[0,4]}}`, 0, 0, 0, 0)},
		{"unknown field", "unknown field", file(`{"a":{"dtype":"F32","size":3}}`)},
		{"twice", "stands twice", file(`{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}`)},
		{"negative", "impossible shape", file(`{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,0]}}`)},
		{"overflow", "impossible shape", file(`{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`)},
		{"beyond the data", "offsets", file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 0, 0, 0, 0)},
		{"overlap", "offsets", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 0, 0, 0, 0)},
		{"hole", "offsets", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, 0, 0, 0, 0, 0, 0, 0, 0)},
		{"begins too early", "offsets", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}}`, 0, 0, 0, 0, 0, 0, 0, 0)},
		{"left over", "1 bytes belong to no tensor", file(`{}`, 7)},
	} {
		if _, _, err := Decode(c.file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, tensors := range [][]Tensor{nil, {
		{Name: "a", Shape: []int{2}, Data: []float32{1, 2}},
		{Name: "b", Shape: []int{0, 3}},
		{Name: "c", Data: []float32{3}},
		{Name: "d", Ints: []int64{4}},
	}} {
		text, err := Encode(tensors, map[string]string{"k": "v"})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tensors, metadata, err := Decode(text)
		if err != nil {
			return
		}
		again, err := Encode(tensors, metadata)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := Decode(again)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(tensors) {
			t.Fatalf("%d tensors, then %d", len(tensors), len(got))
		}
	})
}

type header struct {
	Name  string
	Float float64
}

// Unseal returns the order, the names and the bits of the sealed tensors, and refuses other bytes, kinds and headers.
func TestSealed(t *testing.T) {
	want := []Tensor{
		{Name: "w", Shape: []int{1, 2}, Data: []float32{float32(math.NaN()), float32(math.Inf(-1))}},
		{Name: "", Shape: []int{0}, Data: []float32{}},
		{Name: "w", Shape: []int{}, Ints: []int64{-3}},
		{Name: "a b", Shape: []int{0, 2}, Data: []float32{}},
	}
	sealed, err := Seal("kind", header{"é\n", 0.1}, want)
	if err != nil {
		t.Fatal(err)
	}
	var h header
	got, err := Unseal("kind", sealed, &h)
	if diff := cmp.Diff(want, got, sameBits); err != nil || diff != "" || h != (header{"é\n", 0.1}) {
		t.Errorf("%+v, %v (-want +got)\n%s", h, err, diff)
	}
	for i := range sealed {
		changed := slices.Clone(sealed)
		changed[i] ^= 0x10
		for name, file := range map[string][]byte{"changed": changed, "cut": sealed[:i]} {
			if _, err := Unseal("kind", file, &h); err == nil {
				t.Errorf("%s at byte %d: no error", name, i)
			}
		}
	}
	if _, err := Unseal("kind 2", sealed, &h); err == nil || err.Error() != "checksum differs" {
		t.Errorf("another kind: %v", err)
	}
	if _, err := Unseal("kind", sealed, &struct{ Name string }{}); err == nil || !strings.Contains(err.Error(), "unknown field") {
		t.Errorf("a header with more members: %v", err)
	}
	if _, err := Seal("kind", header{Float: math.NaN()}, nil); err == nil {
		t.Error("a header that JSON can't hold: no error")
	}
}

// A right checksum isn't enough.
func TestUnsealRefuses(t *testing.T) {
	for want, c := range map[string]struct {
		tensors  []Tensor
		metadata map[string]string
	}{
		"want a header alone":      {nil, nil},
		"has 2 keys":               {nil, map[string]string{"header": "{}", "more": ""}},
		"header: ":                 {nil, map[string]string{"header": "{}x"}},
		`tensor 0 is called "w"`:   {[]Tensor{{Name: "w", Data: []float32{1}}}, map[string]string{"header": "{}"}},
		`tensor 0 is called "0000`: {[]Tensor{{Name: "00000001 w", Data: []float32{1}}}, map[string]string{"header": "{}"}},
	} {
		file, err := Encode(c.tensors, c.metadata)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(append([]byte("kind\n"), file...)) // as documented
		if _, err := Unseal("kind", append(sum[:], file...), &header{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
