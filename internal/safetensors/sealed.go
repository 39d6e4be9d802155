package safetensors

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dptrain/dptrain/internal/strict"
)

// headerKey is the metadata's only key in a sealed file.
const headerKey = "header"

// Seal encodes a header and tensors for [Unseal] by the same kind. Floats keep their bits, and tensors their order;
// several may have one name. The file is
//
//	checksum  32 bytes, SHA-256 of kind, a line feed, and the rest
//	rest      a safetensors file, whose metadata has the header as JSON, and whose names begin with a number
//
// A kind names the content, its version, and all that a reader must agree on, such as the run it belongs to. The
// checksum detects damage, but no forgery.
func Seal(kind string, header any, tensors []Tensor) ([]byte, error) {
	text, err := json.Marshal(header)
	if err != nil {
		return nil, fmt.Errorf("encode a header: %w", err)
	}
	numbered := make([]Tensor, len(tensors))
	for i, t := range tensors {
		t.Name = fmt.Sprintf("%08d %s", i, t.Name)
		numbered[i] = t
	}
	file, err := Encode(numbered, map[string]string{headerKey: string(text)})
	if err != nil {
		return nil, err
	}
	sum := checksum(kind, file)
	return append(sum[:], file...), nil
}

// Unseal decodes the result of [Seal] with the same kind, and nothing else, into header and tensors.
func Unseal(kind string, file []byte, header any) ([]Tensor, error) {
	if len(file) < sha256.Size {
		return nil, errors.New("cut short")
	}
	file, want := file[sha256.Size:], file[:sha256.Size]
	if sum := checksum(kind, file); !bytes.Equal(sum[:], want) {
		return nil, errors.New("checksum differs")
	}
	tensors, metadata, err := Decode(file)
	if err != nil {
		return nil, err
	}
	text, ok := metadata[headerKey]
	if !ok || len(metadata) != 1 {
		return nil, fmt.Errorf("its metadata has %d keys, want a header alone", len(metadata))
	}
	if err := strict.Decode([]byte(text), header); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	for i, t := range tensors {
		if tensors[i].Name, ok = strings.CutPrefix(t.Name, fmt.Sprintf("%08d ", i)); !ok {
			return nil, fmt.Errorf("tensor %d is called %q", i, t.Name)
		}
	}
	return tensors, nil
}

func checksum(kind string, file []byte) [sha256.Size]byte {
	h := sha256.New()
	io.WriteString(h, kind+"\n") // a hash doesn't fail
	h.Write(file)
	return [sha256.Size]byte(h.Sum(nil))
}
