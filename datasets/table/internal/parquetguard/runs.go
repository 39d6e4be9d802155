package parquetguard

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/encoding/delta"
)

// prefixed splits bytes that begin with a length. A wrong length is left to the library, which reports it.
func prefixed(in []byte) (first, rest []byte) {
	if len(in) < 4 {
		return nil, nil
	}
	length := int64(binary.LittleEndian.Uint32(in))
	in = in[4:]
	if length > int64(len(in)) {
		return nil, nil
	}
	return in[:length], in[length:]
}

// checkRuns counts the values in the hybrid encoding of runs and packed groups of eight
// (https://parquet.apache.org/docs/file-format/data-pages/encodings/#RLE). Writers pad the last groups, some by more
// than they have to.
func (p *page) checkRuns(in []byte, width int64) error {
	for left := 2*p.values() + 1024; len(in) > 0; {
		head, n := binary.Uvarint(in)
		if n <= 0 {
			return nil // the library reports it
		}
		in = in[n:]
		count, size := head>>1, (width+7)/8
		if head&1 != 0 {
			if count > uint64(len(in)) {
				return nil // as above: a group of eight takes width bytes
			}
			size = int64(count) * width
			count *= 8
		}
		if count > uint64(left) {
			return problemf("a page holds more values than its header claims").citing("it claims %d", p.values())
		}
		left -= int64(count)
		in = in[min(size, int64(len(in))):]
	}
	return nil
}

// checkDelta checks the number of values that packed differences begin with.
func (p *page) checkDelta(in []byte) error {
	for i := range 3 { // size of blocks, number of miniblocks in one, number of values
		v, n := binary.Uvarint(in)
		if n <= 0 {
			return nil // the library reports it
		}
		if i == 2 && v > uint64(p.values()) {
			return problemf("a page holds more values than its header claims").citing("it claims %d", p.values())
		}
		in = in[n:]
	}
	return nil
}

// checkPrefixes adds up the bytes that texts repeat of the texts before them, which take no bytes of the page.
func checkPrefixes(in []byte) error {
	lengths, err := new(delta.BinaryPackedEncoding).DecodeInt32(nil, in)
	if err != nil {
		return err
	}
	total := int64(0)
	for _, n := range lengths {
		total += int64(max(n, 0))
	}
	if total > maxPage {
		return problemf("a page of more than %d bytes", maxPage).citing("its texts repeat %d", total)
	}
	return nil
}
