package table

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"
)

// The library unpacks a page without a limit, and then allocates the lengths that runs of equal values claim: four
// bytes may claim two billion. So each page is unpacked here first, to no more than its header says, and its runs are
// counted.

// checkNext checks the bytes of the next page with data and of a dictionary before it.
func (c *parquetColumn) checkNext() error {
	for len(c.chunks) > 0 && len(c.chunks[0].pages) > 0 {
		p := c.chunks[0].pages[0]
		c.chunks[0].pages = c.chunks[0].pages[1:]
		if err := p.checkBytes(c.file, c.chunks[0].codec, c.optional); err != nil || p.kind != format.DictionaryPage {
			return err
		}
	}
	return nil
}

func (p *page) checkBytes(file io.ReaderAt, codec format.CompressionCodec, optional bool) error {
	if p.kind == format.DictionaryPage && (codec == format.Uncompressed || codec == format.Snappy) {
		return nil // its header was enough
	}
	raw := make([]byte, p.packed)
	if _, err := file.ReadAt(raw, p.at); err != nil {
		return failed(err)
	}
	var levels []byte
	if p.kind == format.DataPageV2 {
		levels, raw = raw[p.repetition:p.repetition+p.definition], raw[p.repetition+p.definition:]
	}
	if p.plain {
		codec = format.Uncompressed
	}
	data, err := unpack(raw, codec, p.unpacked-p.repetition-p.definition)
	if err != nil || p.kind == format.DictionaryPage {
		return err
	}
	if p.kind == format.DataPage && optional {
		levels, data = prefixed(data)
	}
	if err := p.checkRuns(levels, 1); err != nil {
		return err
	}
	switch p.encoding {
	case format.RLEDictionary, 2: // PLAIN_DICTIONARY is the name in old files
		if len(data) == 0 {
			return nil
		}
		return p.checkRuns(data[1:], int64(data[0]))
	case format.RLE:
		runs, _ := prefixed(data)
		return p.checkRuns(runs, 1)
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray:
		return p.checkDelta(data)
	case format.DeltaByteArray:
		if err := p.checkDelta(data); err != nil {
			return err
		}
		return checkPrefixes(data)
	}
	return nil
}

// checkPrefixes adds up how much of the text before it each text repeats, which takes no bytes of the page.
func checkPrefixes(in []byte) error {
	lengths, err := new(delta.BinaryPackedEncoding).DecodeInt32(nil, in)
	if err != nil {
		return failed(err)
	}
	total := int64(0)
	for _, n := range lengths {
		total += int64(max(n, 0))
	}
	if total > mostPage {
		return problemf("a page of more than %d bytes", mostPage).citing("its texts repeat %d", total)
	}
	return nil
}

// unpack returns the contents of a page, or an error if they are more than most bytes.
func unpack(raw []byte, codec format.CompressionCodec, most int64) ([]byte, error) {
	var in io.Reader
	switch codec {
	case format.Snappy: // the header of its data was checked
		out, err := parquet.LookupCompressionCodec(codec).Decode(nil, raw)
		if err != nil {
			return nil, failed(err)
		}
		return out, nil
	case format.Gzip:
		r, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil, failed(err)
		}
		in = r
	case format.Brotli:
		in = brotli.NewReader(bytes.NewReader(raw))
	case format.Zstd:
		// The library allocates the size that the first frame claims.
		var frame zstd.Header
		if err := frame.Decode(raw); err == nil && frame.HasFCS && frame.FrameContentSize > uint64(most) {
			return nil, overPage(most)
		}
		r, err := zstd.NewReader(bytes.NewReader(raw), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(mostPage))
		if err != nil {
			return nil, failed(err)
		}
		defer r.Close()
		in = r
	default:
		return raw, nil
	}
	out := make([]byte, most+1)
	n, err := io.ReadFull(in, out)
	switch {
	case err == nil:
		return nil, overPage(most)
	case err != io.EOF && err != io.ErrUnexpectedEOF:
		return nil, failed(err)
	}
	return out[:n], nil
}

// prefixed splits bytes that begin with a length. Where it is wrong, the library says so.
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

// checkRuns counts values in the hybrid encoding of runs and packed groups of eight
// (https://parquet.apache.org/docs/file-format/data-pages/encodings/#RLE). Writers fill up the last groups, some more
// than they have to.
func (p *page) checkRuns(in []byte, width int64) error {
	for left := 2*p.values() + 1024; len(in) > 0; {
		head, n := binary.Uvarint(in)
		if n <= 0 {
			return nil // the library says so
		}
		in = in[n:]
		count, size := head>>1, (width+7)/8
		if head&1 != 0 {
			if count > uint64(len(in)) {
				return nil // as above; a group of eight takes width bytes
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
			return nil // the library says so
		}
		if i == 2 && v > uint64(p.values()) {
			return problemf("a page holds more values than its header claims").citing("it claims %d", p.values())
		}
		in = in[n:]
	}
	return nil
}
