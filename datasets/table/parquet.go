package table

import (
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// openParquet opens the wanted columns.
func openParquet(file io.ReaderAt, size int64, wanted func(string) bool) (_ rows, err error) {
	defer func() {
		if err != nil {
			err = failed(err)
		}
	}()
	defer recoverParquet(&err)
	opened, err := openParquetFile(file, size)
	if err != nil {
		return nil, err
	}
	r := &columnRows{n: int(opened.NumRows())}
	unpacked := maxUnpacked(size)
	for _, node := range opened.Root().Columns() {
		f, c := field{name: node.Name()}, &parquetColumn{}
		if node.Leaf() && !node.Repeated() {
			c.decode, f.problem = decoder(node.Type())
		} else {
			f.problem = "lists and groups; save it as columns of single values"
		}
		if f.skipped = f.problem != "" || !wanted(f.name); f.skipped {
			r.header, r.columns = append(r.header, f), append(r.columns, nil)
			continue
		}
		taken, err := c.open(opened, file, node.Index())
		if unpacked -= taken; err == nil && unpacked < 0 {
			err = problemf("the file unpacks to more than %s, the most for a file of %s; if it is meant to, save it as CSV", megabytes(maxUnpacked(size)), megabytes(size))
		}
		if err != nil {
			return nil, inColumn(err, f.name)
		}
		r.header, r.columns = append(r.header, f), append(r.columns, c)
	}
	return r, nil
}

// decoder returns a function that converts values of a type to cells, or the reason why there is none.
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
	case *format.DateType:
		return func(v parquet.Value) cell { return dateCell(time.Unix(86400*int64(v.Int32()), 0), time.DateOnly) }, ""
	case *format.TimestampType:
		if unit := l.Unit.Value; unit != nil && t.Kind() == parquet.Int64 {
			perSecond := int64(time.Second / unit.Duration())
			return func(v parquet.Value) cell {
				s := v.Int64() / perSecond
				return dateCell(time.Unix(s, (v.Int64()-s*perSecond)*int64(unit.Duration())), time.RFC3339Nano)
			}, ""
		}
		return nil, unknownType(t)
	case *format.DecimalType:
		return func(v parquet.Value) cell { return decimalCell(v, l.Scale) }, ""
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

// dateCell returns a date or time as the text that a CSV file has.
func dateCell(t time.Time, layout string) cell { return textCell(t.UTC().Format(layout)) }

// decimalCell returns the number that is the nearest to a decimal, a whole number times 10 to the power of -scale.
func decimalCell(v parquet.Value, scale int32) cell {
	n := new(big.Int)
	switch v.Kind() {
	case parquet.Int32:
		n.SetInt64(int64(v.Int32()))
	case parquet.Int64:
		n.SetInt64(v.Int64())
	default: // the two's complement, its first byte the highest
		b := v.ByteArray()
		if n.SetBytes(b); len(b) > 0 && b[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
	}
	x, _ := strconv.ParseFloat(fmt.Sprintf("%de%d", n, -scale), 64) // infinite beyond its range: an error later
	return numberCell(x)
}

func unknownType(t parquet.Type) string {
	name, _, _ := strings.Cut(t.String(), "(") // brackets may contain any text
	return fmt.Sprintf("type %s; save it as numbers, booleans or text", name)
}

func numberCell(v float64) cell { return cell{kind: number, number: v} }
