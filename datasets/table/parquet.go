package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

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
	n       int // rows of the file
}

// parquetColumn is one column of the row group under way.
type parquetColumn struct {
	field
	leaf     int // its number among the file's columns
	file     io.ReaderAt
	optional bool
	chunks   []chunk // still to be read
	decode   func(parquet.Value) cell
	pages    parquet.Pages
	page     parquet.Page
	reader   parquet.ValueReader
	values   []parquet.Value
	buffer   []parquet.Value
}

// openParquet checks the schema. The library panics on some damaged files, here and in next.
func openParquet(file io.ReaderAt, size int64, wanted func(string) bool) (_ rows, err error) {
	defer recovered(&err)
	if err := checkFooter(file, size); err != nil {
		return nil, err
	}
	opened, err := parquet.OpenFile(file, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, problemf("not a Parquet file, or a damaged one").citing("%v", err)
	}
	r := &parquetRows{groups: opened.RowGroups()}
	meta := opened.Metadata()
	if r.n, err = rowsOf(meta); err != nil {
		return nil, err
	}
	left := mostUnpacked(size)
	for _, node := range opened.Schema().Fields() {
		column := parquetColumn{field: field{name: node.Name(), skipped: !wanted(node.Name())}, file: file, optional: node.Optional()}
		if leaf, ok := opened.Schema().Lookup(node.Name()); ok && node.Leaf() && !node.Repeated() {
			column.leaf = leaf.ColumnIndex
			column.decode, column.problem = decoder(node.Type())
		} else {
			column.problem = "lists and groups; save it as columns of single values"
		}
		column.skipped = column.skipped || column.problem != ""
		if !column.skipped {
			column.buffer = make([]parquet.Value, 256)
			if err := column.checkPages(file, size, meta.RowGroups, &left); err != nil {
				return nil, inColumn(err, node.Name())
			}
		}
		r.columns = append(r.columns, column)
		r.header = append(r.header, column.field)
	}
	return r, nil
}

// rowsOf returns the number of rows, which the file and its groups must agree on.
func rowsOf(meta *format.FileMetaData) (int, error) {
	n := int64(0)
	for i := range meta.RowGroups {
		rows := meta.RowGroups[i].NumRows
		if rows < 0 || n+rows > mostRows {
			return 0, problemf("more than %d rows, or fewer than none, in its row groups", mostRows).citing("one has %d", rows)
		}
		n += rows
	}
	if n != meta.NumRows {
		return 0, problemf("a damaged Parquet file: it claims another number of rows than its row groups have").
			citing("it claims %d, and they have %d", meta.NumRows, n)
	}
	return int(n), nil
}

// checkFooter holds the length of the footer against that of the file, and the lengths in it against that of the footer: the
// library makes room for them unseen.
func checkFooter(file io.ReaderAt, size int64) error {
	var end [8]byte
	if size < 12 {
		return &Error{Problem: "not a Parquet file: it is too short"}
	}
	if _, err := file.ReadAt(end[:], size-8); err != nil {
		return failed(err)
	}
	if string(end[4:]) != "PAR1" {
		return &Error{Problem: "not a Parquet file, or one cut short: it doesn't end like one"}
	}
	length := int64(binary.LittleEndian.Uint32(end[:4]))
	if length > size-12 {
		return &Error{Problem: "a damaged Parquet file: its footer is longer than the file"}
	}
	if length > mostFooter {
		return problemf("a footer of %d bytes; at most %d can be read", length, mostFooter)
	}
	footer := make([]byte, length)
	if _, err := file.ReadAt(footer, size-8-length); err != nil {
		return failed(err)
	}
	if _, err := walkThrift(footer, nil); err != nil {
		return problemf("not a Parquet file, or a damaged one: its footer claims what isn't there")
	}
	return nil
}

// recovered turns a panic of the library into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = problemf("a damaged Parquet file").citing("%v", p)
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
	name, _, _ := strings.Cut(t.String(), "(") // brackets may hold any text
	return fmt.Sprintf("type %s; save it as numbers, booleans or text", name)
}

func numberCell(v float64) cell { return cell{kind: number, number: v} }

func (r *parquetRows) fields() []field { return r.header }
func (r *parquetRows) where() string   { return fmt.Sprintf("row %d", r.at) }

func (r *parquetRows) known() int { return r.n }

// count returns the number of rows, on which the file, its groups and the headers of pages agree.
func (r *parquetRows) count() (int, error) { return r.n - r.at, nil }

func (r *parquetRows) close() (err error) {
	defer recovered(&err)
	for i := range r.columns {
		if wrong := r.columns[i].end(); wrong != nil {
			err = errors.Join(err, inColumn(wrong, r.columns[i].name))
		}
	}
	return err
}

func (r *parquetRows) next() (_ []cell, err error) {
	defer recovered(&err)
	for r.left == 0 {
		if err := r.finish(); err != nil {
			return nil, err
		}
		if len(r.groups) == 0 {
			return nil, io.EOF
		}
		if err := r.begin(r.groups[0]); err != nil {
			return nil, err
		}
		r.groups = r.groups[1:]
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
			e := *inColumn(err, c.name)
			e.Row = r.where()
			return nil, &e
		}
		if v.IsNull() {
			r.cells = append(r.cells, cell{})
			continue
		}
		decoded := c.decode(v)
		if !utf8.ValidString(decoded.text) { // two of them would be one in a schema, which is JSON
			return nil, &Error{Row: r.where(), Column: c.name, Problem: "not UTF-8 text; save it as text"}
		}
		r.cells = append(r.cells, decoded)
	}
	return r.cells, nil
}

// begin turns to a row group.
func (r *parquetRows) begin(g parquet.RowGroup) error {
	chunks := g.ColumnChunks()
	for i := range r.columns {
		c := &r.columns[i]
		if c.skipped {
			continue
		}
		if c.leaf >= len(chunks) {
			return &Error{Column: c.name, Problem: "a row group lacks it"}
		}
		c.pages = chunks[c.leaf].Pages()
	}
	r.left = int(g.NumRows())
	return nil
}

// finish ends a row group, if one is under way: each column must be at its end, or rows would be left out in silence.
func (r *parquetRows) finish() error {
	for i := range r.columns {
		c := &r.columns[i]
		if c.pages == nil {
			continue
		}
		switch _, err := c.next(); {
		case err == nil:
			return &Error{Column: c.name, Problem: "it has more values than its row group has rows"}
		case !errors.Is(err, io.EOF):
			return inColumn(err, c.name)
		}
		if err := c.end(); err != nil {
			return inColumn(err, c.name)
		}
		c.chunks = c.chunks[1:]
	}
	return nil
}

// next returns the column's next value, whose bytes are good until the next call. At the end of the row group it
// returns io.EOF.
func (c *parquetColumn) next() (parquet.Value, error) {
	for len(c.values) == 0 {
		if c.reader == nil {
			if err := c.checkNext(); err != nil {
				return parquet.Value{}, err
			}
			page, err := c.pages.ReadPage()
			if err != nil {
				return parquet.Value{}, err
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
