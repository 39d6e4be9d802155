package parquetguard

import (
	"errors"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// Column iterates over the values of a column, one row group after the other.
type Column struct {
	file     io.ReaderAt
	leaf     int // its number among the file's columns
	optional bool

	groups []parquet.RowGroup // the one under way, and those to come
	chunks []chunk            // of the same groups
	left   int64              // rows of the group under way that weren't returned yet

	// The library's, of the group under way; nil between groups.
	pages  parquet.Pages
	page   parquet.Page
	reader parquet.ValueReader
	values []parquet.Value // read and not returned yet; in buffer
	buffer []parquet.Value
}

// chunk is a column in one row group.
type chunk struct {
	codec format.CompressionCodec
	kind  format.Type
	pages []page // that weren't checked by their bytes yet
}

// Column opens the column of that name, which must have a single value a row, and checks the headers of its pages. The
// caller must close the Column.
func (f *File) Column(name string) (_ *Column, err error) {
	defer Recover(&err)
	leaf, ok := f.opened.Schema().Lookup(name)
	if !ok || leaf.Node.Repeated() {
		return nil, problemf("no column of single values")
	}
	c := &Column{
		file: f.file, leaf: leaf.ColumnIndex, optional: leaf.Node.Optional(),
		groups: f.opened.RowGroups(), buffer: make([]parquet.Value, 256),
	}
	if err := c.checkHeaders(f); err != nil {
		return nil, err
	}
	return c, nil
}

// checkHeaders checks the headers of the column's pages in all row groups, and that they have as many values as these
// have rows.
func (c *Column) checkHeaders(f *File) error {
	groups := f.opened.Metadata().RowGroups
	for i := range groups {
		if c.leaf >= len(groups[i].Columns) {
			return problemf("a row group lacks it")
		}
		meta := &groups[i].Columns[c.leaf].MetaData
		pages, err := readPageHeaders(f.file, f.size, meta, &f.left)
		if err != nil {
			return err
		}
		values := int64(0)
		for _, p := range pages {
			values += p.values()
		}
		if rows := groups[i].NumRows; values != rows || meta.NumValues != rows {
			return problemf("row group %d has another number of values in this column than rows", i+1).
				citing("it has %d rows, claims %d values, and its pages have %d", rows, meta.NumValues, values)
		}
		c.chunks = append(c.chunks, chunk{meta.Codec, meta.Type, pages})
	}
	return nil
}

// Next returns the value of the next row. The value's bytes are valid until the next call. After the last row it
// returns io.EOF.
func (c *Column) Next() (parquet.Value, error) {
	for c.left == 0 {
		if err := c.nextGroup(); err != nil {
			return parquet.Value{}, err
		}
	}
	v, err := c.next()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	c.left--
	return v, err
}

// nextGroup ends the row group under way, if there is one, and begins the next. At the end it returns io.EOF.
func (c *Column) nextGroup() (err error) {
	defer Recover(&err)
	if c.pages != nil {
		switch _, err := c.next(); {
		case err == nil:
			return problemf("it has more values than its row group has rows")
		case !errors.Is(err, io.EOF):
			return err
		}
		if err := c.Close(); err != nil {
			return err
		}
		c.groups, c.chunks = c.groups[1:], c.chunks[1:]
	}
	if len(c.groups) == 0 {
		return io.EOF
	}
	chunks := c.groups[0].ColumnChunks()
	if c.leaf >= len(chunks) {
		return problemf("a row group lacks it")
	}
	c.pages, c.left = chunks[c.leaf].Pages(), c.groups[0].NumRows()
	return nil
}

// next returns the next value of the row group under way, or io.EOF.
func (c *Column) next() (parquet.Value, error) {
	if len(c.values) == 0 {
		if err := c.read(); err != nil {
			return parquet.Value{}, err
		}
	}
	v := c.values[0]
	c.values = c.values[1:]
	return v, nil
}

// read fills values, from the next page if need be.
func (c *Column) read() (err error) {
	defer Recover(&err)
	for len(c.values) == 0 {
		if c.reader == nil {
			if err := c.checkPage(); err != nil {
				return err
			}
			page, err := c.pages.ReadPage()
			if err != nil {
				return err
			}
			c.page, c.reader = page, page.Values()
		}
		n, err := c.reader.ReadValues(c.buffer)
		c.values = c.buffer[:n]
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if n == 0 {
			parquet.Release(c.page)
			c.page, c.reader = nil, nil
		}
	}
	return nil
}

// checkPage checks the bytes of the next page of data, and of a dictionary before it.
func (c *Column) checkPage() error {
	for chunk := &c.chunks[0]; len(chunk.pages) > 0; {
		p := chunk.pages[0]
		chunk.pages = chunk.pages[1:]
		if err := p.checkBytes(c.file, chunk.codec, chunk.kind, c.optional); err != nil || p.kind != format.DictionaryPage {
			return err
		}
	}
	return nil
}

// Close releases the memory of the row group under way.
func (c *Column) Close() (err error) {
	defer Recover(&err)
	if c.page != nil {
		parquet.Release(c.page)
	}
	if c.pages != nil {
		err = c.pages.Close()
	}
	c.pages, c.page, c.reader, c.values = nil, nil, nil, nil
	return err
}
