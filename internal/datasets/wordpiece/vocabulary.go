package wordpiece

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Vocabulary is a list of pieces of words. The token of a piece is its index. A Vocabulary may be used concurrently.
type Vocabulary struct {
	pieces        []string         // by token, as in the file
	first         map[string]int32 // pieces that a word begins with
	later         map[string]int32 // pieces that continue a word, without their "##"
	longest       int              // maximum size of a piece in bytes
	unk, cls, sep int32
}

// The special pieces. [PAD] is token 0.
const (
	pad = "[PAD]"
	unk = "[UNK]"
	cls = "[CLS]"
	sep = "[SEP]"
)

// maxPieces bounds a vocabulary. The largest ones of BERT's kind have about 250,000 pieces.
const maxPieces = 1 << 20

// Parse parses a vocabulary, which has one piece in each line. The first must be [PAD].
func Parse(file []byte) (*Vocabulary, error) {
	if !utf8.Valid(file) {
		return nil, errors.New("vocabulary: not UTF-8")
	}
	lines := strings.Split(string(bytes.TrimSuffix(file, []byte("\n"))), "\n")
	if len(lines) > maxPieces {
		return nil, fmt.Errorf("vocabulary: %d lines, want at most %d", len(lines), maxPieces)
	}
	v := &Vocabulary{first: map[string]int32{}, later: map[string]int32{}}
	for i, line := range lines {
		piece := strings.TrimSuffix(line, "\r")
		if piece == "" {
			return nil, fmt.Errorf("vocabulary: line %d is empty", i+1)
		}
		in, text := v.first, piece
		if tail, ok := strings.CutPrefix(piece, "##"); ok && tail != "" {
			in, text = v.later, tail
		}
		if before, twice := in[text]; twice {
			return nil, fmt.Errorf("vocabulary: %q is on the lines %d and %d", piece, before+1, i+1)
		}
		in[text] = int32(i)
		v.pieces = append(v.pieces, piece)
		v.longest = max(v.longest, len(text))
	}
	if v.pieces[0] != pad {
		return nil, fmt.Errorf("vocabulary: the first line is %q, want %s", v.pieces[0], pad)
	}
	for name, id := range map[string]*int32{unk: &v.unk, cls: &v.cls, sep: &v.sep} {
		var ok bool
		if *id, ok = v.first[name]; !ok {
			return nil, fmt.Errorf("vocabulary: no line is %s", name)
		}
	}
	return v, nil
}

// Size returns the number of pieces.
func (v *Vocabulary) Size() int { return len(v.pieces) }
