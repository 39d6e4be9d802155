package table

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// npyHeader is the header of an array, by NumPy Enhancement Proposal 1 and its later versions.
type npyHeader struct {
	dtype   dtype
	fortran bool
	shape   []int // of the whole array
}

// dtype is the type of an array's elements.
type dtype struct {
	size   int // in bytes
	order  binary.ByteOrder
	number func(binary.ByteOrder, []byte) float64 // nil for text
}

const (
	maxHeader = 1 << 16
	maxAxes   = 32
	maxChars  = 1 << 12 // of a text

	noRows = "a single number, which has no rows"
)

// readNPYHeader reads an array's header, up to its first element.
func readNPYHeader(in io.Reader) (npyHeader, error) {
	var start [8]byte
	if _, err := io.ReadFull(in, start[:]); err != nil || string(start[:6]) != "\x93NUMPY" {
		return npyHeader{}, problemf("not a NumPy array")
	}
	size := make([]byte, 4)
	switch start[6] {
	case 1:
		size = size[:2]
	case 2, 3:
	default:
		return npyHeader{}, problemf("an unknown version of NumPy's format; 1 to 3 can be read").citing("its version is %d", start[6])
	}
	if _, err := io.ReadFull(in, size); err != nil {
		return npyHeader{}, failed(err)
	}
	length := uint32(binary.LittleEndian.Uint16(size))
	if len(size) == 4 {
		length = binary.LittleEndian.Uint32(size)
	}
	if length > maxHeader {
		return npyHeader{}, problemf("a header of more than %d bytes", maxHeader).citing("it claims %d", length)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(in, text); err != nil {
		return npyHeader{}, failed(err)
	}
	if !utf8.Valid(text) {
		return npyHeader{}, problemf("its header isn't text")
	}
	return parseNPYHeader(string(text))
}

// npyDict is the Python literal in a header, with its three keys in any order.
var npyDict = regexp.MustCompile(`^\{(?:\s*(?:['"]descr['"]\s*:\s*['"]([^'"\\]+)['"]|['"]fortran_order['"]\s*:\s*(True|False)|['"]shape['"]\s*:\s*(\([0-9L, ]*\)))\s*,?){3}\s*\}\s*$`)

// parseNPYHeader parses a Python literal such as {'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)}.
func parseNPYHeader(text string) (h npyHeader, err error) {
	dict := npyDict.FindStringSubmatch(text)
	if dict == nil || slices.Contains(dict, "") {
		return h, problemf("its header can't be read (of a structured array, save each field as an array)").citing("it begins with %.60q", text)
	}
	for length := range strings.FieldsFuncSeq(dict[3], func(r rune) bool { return r < '0' || r > '9' }) {
		n, err := strconv.Atoi(length)
		if err != nil {
			return h, problemf("more than %d values", maxValues).citing("its shape is %s", dict[3])
		}
		h.shape = append(h.shape, n)
	}
	h.fortran = dict[2] == "True"
	if h.dtype, err = parseDtype(dict[1]); err != nil {
		return h, err
	}
	return h, h.check()
}

// check bounds the number of values, so that sizes don't overflow.
func (h npyHeader) check() error {
	if len(h.shape) == 0 {
		return problemf(noRows)
	}
	if len(h.shape) > maxAxes {
		return problemf("%d axes; at most %d can be read", len(h.shape), maxAxes)
	}
	values := 1
	for _, d := range h.shape {
		if d > 0 && values > maxValues/d {
			return problemf("more than %d values", maxValues).citing("its shape is %v", h.shape)
		}
		values *= max(1, d)
	}
	return nil
}

// npyNumbers decode the types of numbers and booleans.
var npyNumbers = map[string]func(order binary.ByteOrder, b []byte) float64{
	"b1": func(_ binary.ByteOrder, b []byte) float64 { return float64(b[0]) },
	"u1": func(_ binary.ByteOrder, b []byte) float64 { return float64(b[0]) },
	"u2": func(order binary.ByteOrder, b []byte) float64 { return float64(order.Uint16(b)) },
	"u4": func(order binary.ByteOrder, b []byte) float64 { return float64(order.Uint32(b)) },
	"u8": func(order binary.ByteOrder, b []byte) float64 { return float64(order.Uint64(b)) },
	"i1": func(_ binary.ByteOrder, b []byte) float64 { return float64(int8(b[0])) },
	"i2": func(order binary.ByteOrder, b []byte) float64 { return float64(int16(order.Uint16(b))) },
	"i4": func(order binary.ByteOrder, b []byte) float64 { return float64(int32(order.Uint32(b))) },
	"i8": func(order binary.ByteOrder, b []byte) float64 { return float64(int64(order.Uint64(b))) },
	"f2": func(order binary.ByteOrder, b []byte) float64 { return half(order.Uint16(b)) },
	"f4": func(order binary.ByteOrder, b []byte) float64 { return float64(math.Float32frombits(order.Uint32(b))) },
	"f8": func(order binary.ByteOrder, b []byte) float64 { return math.Float64frombits(order.Uint64(b)) },
}

// parseDtype parses a type such as <f4: the byte order, the kind and the size.
func parseDtype(text string) (dtype, error) {
	d := dtype{order: binary.LittleEndian}
	if strings.HasPrefix(text, ">") {
		d.order = binary.BigEndian
	}
	name := strings.TrimLeft(text, "<>|=")
	d.number = npyNumbers[name]
	size, err := strconv.Atoi(strings.TrimLeft(name, "bifuU"))
	switch {
	case strings.HasPrefix(name, "M8"), strings.HasPrefix(name, "m8"):
		return d, problemf("dates or times; save it as numbers, such as days, or text").citing("its type is %q", text)
	case name == "O":
		return d, problemf("elements that are Python objects; save it as numbers, booleans or text")
	case d.number != nil:
		d.size = size
		return d, nil
	case strings.HasPrefix(name, "U") && err == nil && size >= 1 && size <= maxChars:
		d.size = 4 * size
		return d, nil
	}
	return d, problemf("another type; save it as numbers, booleans or text").citing("its type is %q", text)
}

// cell decodes one element.
func (d dtype) cell(b []byte) cell {
	if d.number != nil {
		return cell{kind: number, number: d.number(d.order, b)}
	}
	var s strings.Builder
	for i := 0; i+4 <= len(b); i += 4 {
		switch r := rune(d.order.Uint32(b[i:])); {
		case !utf8.ValidRune(r):
			return cell{kind: rawBytes}
		case r != 0: // zeros pad short texts
			s.WriteRune(r)
		}
	}
	return textCell(s.String())
}

// half decodes the 16-bit format of IEEE 754.
func half(b uint16) float64 {
	sign, exponent, fraction := 1.0, int(b>>10&0x1f), float64(b&0x3ff)
	if b&0x8000 != 0 {
		sign = -1
	}
	switch {
	case exponent == 0:
		return sign * math.Ldexp(fraction, -24)
	case exponent == 0x1f && fraction == 0:
		return sign * math.Inf(1)
	case exponent == 0x1f:
		return math.NaN()
	}
	return sign * math.Ldexp(fraction+1024, exponent-25)
}

// length returns the number of rows.
func (h npyHeader) length() int { return h.shape[0] }

// bytes returns the size of all elements in bytes.
func (a *npyArray) bytes() int64 { return int64(a.dtype.size) * int64(a.width) * int64(a.length()) }

// npyArray reads the elements of an array row by row, in C order.
type npyArray struct {
	npyHeader
	in    io.Reader
	width int    // elements of a row
	row   []byte // of one row
	all   []byte // of all rows, in Fortran order
	at    int    // rows read
}

// newNPYArray reads an array's header. An array of more than most bytes is an error. Beside an error the array has what
// was read of its header.
func newNPYArray(in io.Reader, most uint64) (*npyArray, error) {
	in = bufio.NewReaderSize(in, 1<<16)
	h, err := readNPYHeader(in)
	a := &npyArray{npyHeader: h, in: in}
	if err != nil {
		return a, err
	}
	if a.width = product(h.shape[1:]); uint64(a.bytes()) > most {
		return a, failed(io.ErrUnexpectedEOF)
	}
	return a, nil
}

// next appends the elements of the next row.
func (a *npyArray) next(out []cell) ([]cell, error) {
	size := a.dtype.size
	if a.fortran && a.width > 1 {
		if a.all == nil {
			if err := checkMemory(a.bytes()); err != nil {
				return nil, err
			}
			all := make([]byte, a.bytes())
			if _, err := io.ReadFull(a.in, all); err != nil {
				return nil, failed(err)
			}
			a.all = all
		}
		for k := range a.width {
			at := (a.fortranIndex(k)*a.shape[0] + a.at) * size
			out = append(out, a.dtype.cell(a.all[at:at+size]))
		}
		a.at++
		return out, nil
	}
	if a.row == nil {
		a.row = make([]byte, size*a.width)
	}
	if _, err := io.ReadFull(a.in, a.row); err != nil {
		return nil, failed(err)
	}
	for k := range a.width {
		out = append(out, a.dtype.cell(a.row[k*size:(k+1)*size]))
	}
	a.at++
	return out, nil
}

// fortranIndex returns the index in Fortran order of a row's element that has index k in C order.
func (a *npyArray) fortranIndex(k int) int {
	index, stride := 0, a.width
	for _, d := range slices.Backward(a.shape[1:]) {
		stride /= d
		index += k % d * stride
		k /= d
	}
	return index
}
