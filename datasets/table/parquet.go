package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// parquetRows reads the columns of a flat schema side by side, one row group after the other.
type parquetRows struct {
	groups  []parquet.RowGroup // still to come
	columns []parquetColumn
	header  []field
	cells   []cell
	left    int // rows of the group under way
	at      int // rows given

	file     io.ReaderAt
	size     int64
	metadata []format.RowGroup // of groups, for what the library doesn't tell
}

// parquetColumn is one column of the row group under way.
type parquetColumn struct {
	field
	leaf   int // its number among the file's columns
	decode func(parquet.Value) cell
	pages  parquet.Pages
	page   parquet.Page
	reader parquet.ValueReader
	values []parquet.Value
	buffer []parquet.Value
}

// openParquet checks the schema. The library panics on some damaged files, here and in next.
func openParquet(file io.ReaderAt, size int64, wanted func(string) bool) (_ rows, err error) {
	defer recovered(&err)
	if err := checkFooter(file, size); err != nil {
		return nil, err
	}
	opened, err := parquet.OpenFile(file, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, &Error{Problem: fmt.Sprintf("not a Parquet file, or a damaged one: %v", err)}
	}
	r := &parquetRows{groups: opened.RowGroups(), file: file, size: size, metadata: opened.Metadata().RowGroups}
	for _, node := range opened.Schema().Fields() {
		column := parquetColumn{field: field{name: node.Name(), skipped: !wanted(node.Name())}, buffer: make([]parquet.Value, 256)}
		if leaf, ok := opened.Schema().Lookup(node.Name()); ok && node.Leaf() && !node.Repeated() {
			column.leaf = leaf.ColumnIndex
			column.decode, column.problem = decoder(node.Type())
		} else {
			column.problem = "lists and groups; save it as columns of single values"
		}
		column.skipped = column.skipped || column.problem != ""
		if err := column.checkPages(file, size, opened.Metadata().RowGroups); err != nil {
			return nil, &Error{Column: node.Name(), Problem: err.Error()}
		}
		r.columns = append(r.columns, column)
		r.header = append(r.header, column.field)
	}
	return r, nil
}

// checkFooter holds the length of the footer against that of the file, and the lengths in it against that of the footer: the
// library makes room for them unseen.
func checkFooter(file io.ReaderAt, size int64) error {
	var end [8]byte
	if size < 12 {
		return &Error{Problem: "not a Parquet file: it is too short"}
	}
	if _, err := file.ReadAt(end[:], size-8); err != nil {
		return &Error{Problem: ending(err)}
	}
	if string(end[4:]) != "PAR1" {
		return &Error{Problem: "not a Parquet file, or one cut short: it doesn't end like one"}
	}
	length := int64(binary.LittleEndian.Uint32(end[:4]))
	if length > size-12 {
		return &Error{Problem: "a damaged Parquet file: its footer is longer than the file"}
	}
	if length > mostFooter {
		return &Error{Problem: fmt.Sprintf("a footer of %d bytes; at most %d can be read", length, mostFooter)}
	}
	footer := make([]byte, length)
	if _, err := file.ReadAt(footer, size-8-length); err != nil {
		return &Error{Problem: ending(err)}
	}
	if _, err := walkThrift(footer, nil); err != nil {
		return &Error{Problem: fmt.Sprintf("not a Parquet file, or a damaged one: its footer claims what isn't there: %s", ending(err))}
	}
	return nil
}

// recovered turns a panic of the library into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = &Error{Problem: fmt.Sprintf("a damaged Parquet file: %v", p)}
	}
}

// decoder returns how values of a type become cells, or why they can't.
func decoder(t parquet.Type) (decode func(parquet.Value) cell, problem string) {
	var logical any
	if l := t.LogicalType(); l != nil {
		logical = l.Value
	}
	unsigned := false
	switch l := logical.(type) {
	case nil:
		if c := t.ConvertedType(); c != nil {
			switch *c {
			case deprecated.UTF8, deprecated.Enum, deprecated.Int8, deprecated.Int16, deprecated.Int32, deprecated.Int64:
			case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
				unsigned = true
			default:
				return nil, unknownType(t)
			}
		}
	case *format.IntType:
		unsigned = !l.IsSigned
	case *format.StringType, *format.EnumType:
	default:
		return nil, unknownType(t)
	}
	switch t.Kind() {
	case parquet.Boolean:
		return func(v parquet.Value) cell { return numberCell(float64(v.Byte() & 1)) }, ""
	case parquet.Int32:
		if unsigned {
			return func(v parquet.Value) cell { return numberCell(float64(v.Uint32())) }, ""
		}
		return func(v parquet.Value) cell { return numberCell(float64(v.Int32())) }, ""
	case parquet.Int64:
		if unsigned {
			return func(v parquet.Value) cell { return numberCell(float64(v.Uint64())) }, ""
		}
		return func(v parquet.Value) cell { return numberCell(float64(v.Int64())) }, ""
	case parquet.Float:
		return func(v parquet.Value) cell { return numberCell(float64(v.Float())) }, ""
	case parquet.Double:
		return func(v parquet.Value) cell { return numberCell(v.Double()) }, ""
	case parquet.ByteArray:
		return func(v parquet.Value) cell { return textCell(string(v.ByteArray())) }, ""
	}
	return nil, unknownType(t)
}

func unknownType(t parquet.Type) string {
	return fmt.Sprintf("type %s; save it as numbers, booleans or text", t)
}

func numberCell(v float64) cell { return cell{kind: number, number: v} }

func (r *parquetRows) fields() []field { return r.header }
func (r *parquetRows) where() string   { return fmt.Sprintf("row %d", r.at) }

// count adds up what the row groups say. A file that has fewer rows than it says is an error once they are read.
func (r *parquetRows) count() (int, error) {
	n := int64(r.left)
	for _, g := range r.groups {
		rows := g.NumRows()
		if rows < 0 || n+rows > mostRows {
			return 0, &Error{Problem: fmt.Sprintf("%d rows in a row group; at most %d can be trained on", rows, mostRows)}
		}
		n += rows
	}
	return int(n), nil
}

func (r *parquetRows) close() (err error) {
	defer recovered(&err)
	for i := range r.columns {
		err = errors.Join(err, r.columns[i].end())
	}
	return err
}

func (r *parquetRows) next() (_ []cell, err error) {
	defer recovered(&err)
	for r.left == 0 {
		if len(r.groups) == 0 {
			return nil, io.EOF
		}
		if err := r.begin(r.groups[0], r.metadata[0].Columns); err != nil {
			return nil, err
		}
		r.groups, r.metadata = r.groups[1:], r.metadata[1:]
	}
	r.left--
	r.at++
	r.cells = r.cells[:0]
	for i := range r.columns {
		c := &r.columns[i]
		if c.skipped {
			continue
		}
		v, err := c.next()
		if err != nil {
			return nil, &Error{Row: r.where(), Column: c.name, Problem: err.Error()}
		}
		if v.IsNull() {
			r.cells = append(r.cells, cell{})
			continue
		}
		r.cells = append(r.cells, c.decode(v))
	}
	return r.cells, nil
}

// begin turns to a row group.
func (r *parquetRows) begin(g parquet.RowGroup, metadata []format.ColumnChunk) error {
	chunks, n := g.ColumnChunks(), g.NumRows()
	if n < 0 || n > mostRows {
		return &Error{Problem: fmt.Sprintf("%d rows in a row group; at most %d can be trained on", n, mostRows)}
	}
	for i := range r.columns {
		c := &r.columns[i]
		if c.skipped {
			continue
		}
		if err := c.end(); err != nil {
			return &Error{Column: c.name, Problem: err.Error()}
		}
		if c.leaf >= len(chunks) || c.leaf >= len(metadata) {
			return &Error{Column: c.name, Problem: "a row group lacks it"}
		}
		if err := checkPages(r.file, r.size, &metadata[c.leaf].MetaData); err != nil {
			return &Error{Column: c.name, Problem: err.Error()}
		}
		c.pages = chunks[c.leaf].Pages()
	}
	r.left = int(n)
	return nil
}

// next returns the column's next value, whose bytes are good until the next call.
func (c *parquetColumn) next() (parquet.Value, error) {
	for len(c.values) == 0 {
		if c.reader == nil {
			page, err := c.pages.ReadPage()
			if err != nil {
				return parquet.Value{}, errors.New(ending(err))
			}
			c.page, c.reader = page, page.Values()
		}
		n, err := c.reader.ReadValues(c.buffer)
		c.values = c.buffer[:n]
		if err != nil && !errors.Is(err, io.EOF) {
			return parquet.Value{}, err
		}
		if n == 0 {
			parquet.Release(c.page)
			c.page, c.reader = nil, nil
		}
	}
	v := c.values[0]
	c.values = c.values[1:]
	return v, nil
}

// end gives back what the row group under way holds.
func (c *parquetColumn) end() error {
	if c.page != nil {
		parquet.Release(c.page)
	}
	var err error
	if c.pages != nil {
		err = c.pages.Close()
	}
	c.pages, c.page, c.reader, c.values = nil, nil, nil, nil
	return err
}
