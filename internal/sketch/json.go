package sketch

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/internal/strict"
)

// form is the version of the hashes of rows. Sketches of different forms can't be compared.
const form = 1

// sketchJSON is the JSON form of a sketch. Bytes are base64, hashes are ascending and of eight bytes, little-endian.
type sketchJSON struct {
	Form    int         `json:"form"`
	Rows    int         `json:"rows"`
	Hashes  []byte      `json:"hashes"`
	Counts  map[int]int `json:"counts,omitempty"`  // of rows that a set has several times, by their hash's index
	Columns []byte      `json:"columns,omitempty"` // varints
}

// MarshalJSON implements [json.Marshaler].
func (s Sketch) MarshalJSON() ([]byte, error) {
	out := sketchJSON{Form: form, Rows: s.rows, Hashes: []byte{}, Counts: map[int]int{}}
	for i, h := range s.hashes {
		out.Hashes = binary.LittleEndian.AppendUint64(out.Hashes, h)
		if n := s.counts[i]; n > 1 {
			out.Counts[i] = n
		}
	}
	for _, counts := range s.columns {
		for _, n := range counts {
			out.Columns = binary.AppendUvarint(out.Columns, uint64(n))
		}
	}
	return json.Marshal(out)
}

var errColumn = errors.New("sketch: the counts of a column don't add up to the rows")

var errForm = errors.New("sketch: not one of this version's; use a newer dptrain")

// UnmarshalJSON implements [json.Unmarshaler]. A sketch that no [Builder] makes is an error.
func (s *Sketch) UnmarshalJSON(text []byte) error {
	var in sketchJSON
	if err := strict.Decode(text, &in); err != nil {
		return fmt.Errorf("sketch: %w", err)
	}
	if in.Form != form {
		return errForm
	}
	n := len(in.Hashes) / 8
	if len(in.Hashes)%8 != 0 || n > Size {
		return fmt.Errorf("sketch: %d bytes of hashes; want eight for each of up to %d", len(in.Hashes), Size)
	}
	out := Sketch{rows: in.Rows}
	total := 0
	for i := range n {
		h, count := binary.LittleEndian.Uint64(in.Hashes[8*i:]), 1
		if given, ok := in.Counts[i]; ok {
			if count = given; count < 2 || count > in.Rows {
				return fmt.Errorf("sketch: count %d of %d rows; want 2 or more", count, in.Rows)
			}
			delete(in.Counts, i)
		}
		if i > 0 && h <= out.hashes[i-1] {
			return errors.New("sketch: its hashes don't ascend")
		}
		total += count
		if total > in.Rows {
			return fmt.Errorf("sketch: %d rows and more are counted, of %d", total, in.Rows)
		}
		out.hashes, out.counts = append(out.hashes, h), append(out.counts, count)
	}
	if len(in.Counts) > 0 || n < Size && total != in.Rows {
		return fmt.Errorf("sketch: %d hashes for %d rows don't belong together", n, in.Rows)
	}
	for text := in.Columns; len(text) > 0; {
		var counts [buckets]int
		left := in.Rows
		for i := range counts {
			n, size := binary.Uvarint(text)
			if size <= 0 || n > uint64(left) {
				return errColumn
			}
			counts[i], left, text = int(n), left-int(n), text[size:]
		}
		if left > 0 {
			return errColumn
		}
		out.columns = append(out.columns, counts)
	}
	*s = out
	return nil
}
