package parquetguard

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"
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
// (https://parquet.apache.org/docs/file-format/data-pages/encodings/#RLE). There must be at least as many as values.
// Writers pad the last groups, some by more than they have to.
func (p *page) checkRuns(in []byte, width, values int64) error {
	limit := 2*p.values() + 1024
	for left := limit; ; {
		if len(in) == 0 {
			return fewer(values - (limit - left))
		}
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
}

// fewer returns the error of a page that lacks values, or nil if none is missing.
func fewer(missing int64) error {
	if missing <= 0 {
		return nil
	}
	return problemf("a page holds fewer values than its header claims").citing("%d are missing", missing)
}

// ones counts the levels of 1 among the first n, whose runs were checked.
func ones(in []byte, n int64) (count int64) {
	for n > 0 && len(in) > 0 {
		head, k := binary.Uvarint(in)
		if k <= 0 {
			return count
		}
		in = in[k:]
		if head&1 == 0 {
			run := min(n, int64(head>>1))
			if len(in) > 0 {
				count += run * int64(in[0]&1)
				in = in[1:]
			}
			n -= run
			continue
		}
		groups := min(int64(head>>1), int64(len(in)))
		for _, b := range in[:groups] {
			for i := 0; i < 8 && n > 0; i++ {
				count += int64(b >> i & 1)
				n--
			}
		}
		in = in[groups:]
	}
	return count
}

// checkDelta checks the number of values that packed differences begin with, which must be at least values.
func (p *page) checkDelta(in []byte, values int64) error {
	for i := range 3 { // size of blocks, number of miniblocks in one, number of values
		v, n := binary.Uvarint(in)
		if n <= 0 {
			return nil // the library reports it
		}
		if i == 2 {
			if v > uint64(p.values()) {
				return problemf("a page holds more values than its header claims").citing("it claims %d", p.values())
			}
			return fewer(values - int64(v))
		}
		in = in[n:]
	}
	return nil
}

// checkPlain checks that values without an encoding are there.
func checkPlain(in []byte, kind format.Type, values int64) error {
	bits := map[format.Type]int64{
		format.Boolean: 1, format.Int32: 32, format.Float: 32, format.Int64: 64, format.Double: 64, format.Int96: 96,
	}[kind]
	if bits > 0 {
		return fewer(values - 8*int64(len(in))/bits)
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
