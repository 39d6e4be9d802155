package parquetguard

import (
	"bytes"
	"compress/gzip"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// checkBytes unpacks the page to no more bytes than its header claims, and counts the values of its runs. The library
// does the first without a limit, and allocates the values that runs claim: four bytes may claim two billion.
//
// It also refuses a page of fewer values than its header claims, for which the library may return what is left in its
// buffers of another page.
func (p *page) checkBytes(file io.ReaderAt, codec format.CompressionCodec, kind format.Type, optional bool) error {
	if p.kind == format.DictionaryPage && (codec == format.Uncompressed || codec == format.Snappy) {
		return nil // its header was enough
	}
	raw := make([]byte, p.packed)
	if _, err := file.ReadAt(raw, p.at); err != nil {
		return err
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
	values := p.values()
	if optional {
		if err := p.checkRuns(levels, 1, values); err != nil {
			return err
		}
		values = ones(levels, values)
	}
	switch p.encoding {
	case format.Plain:
		return checkPlain(data, kind, values)
	case format.RLEDictionary, 2: // PLAIN_DICTIONARY is the name in old files
		if len(data) == 0 {
			return fewer(values)
		}
		if data[0] == 0 { // the indices are all 0, and some writers leave out their runs
			values = 0
		}
		return p.checkRuns(data[1:], int64(data[0]), values)
	case format.RLE:
		runs, _ := prefixed(data)
		return p.checkRuns(runs, 1, values)
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray:
		return p.checkDelta(data, values)
	case format.DeltaByteArray:
		if err := p.checkDelta(data, values); err != nil {
			return err
		}
		return checkPrefixes(data)
	}
	return nil
}

// unpack returns the contents of a page, or an error if they have more than most bytes.
func unpack(raw []byte, codec format.CompressionCodec, most int64) ([]byte, error) {
	var in io.Reader
	switch codec {
	case format.Snappy: // the header of its data was checked
		out, err := parquet.LookupCompressionCodec(codec).Decode(nil, raw)
		if err != nil {
			return nil, err
		}
		return out, nil
	case format.Gzip:
		r, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil, err
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
		r, err := zstd.NewReader(bytes.NewReader(raw), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxPage))
		if err != nil {
			return nil, err
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
		return nil, err
	}
	return out[:n], nil
}
