package table

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
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
	kind  byte // 'f', 'i', 'u', 'b' or 'U'
	size  int  // in bytes
	order binary.ByteOrder
}

const (
	maxHeader = 1 << 16
	maxAxes   = 32
	maxChars  = 1 << 12 // of a text
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

// parseNPYHeader parses a Python literal such as {'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)}.
func parseNPYHeader(text string) (h npyHeader, err error) {
	p := literal{strings.TrimSpace(text)}
	seen := map[string]bool{}
	p.want("{")
	for !p.failed() && !p.take("}") {
		key := p.quoted()
		p.want(":")
		if seen[key] {
			return h, problemf("its header has a key twice").citing("the key is %q", key)
		}
		seen[key] = true
		switch key {
		case "descr":
			if strings.HasPrefix(p.rest, "[") {
				return h, problemf("a structured array; save each of its fields as an array")
			}
			if h.dtype, err = parseDtype(p.quoted()); err != nil {
				return h, err
			}
		case "fortran_order":
			if h.fortran = p.take("True"); !h.fortran {
				p.want("False")
			}
		case "shape":
			h.shape = p.tuple()
		default:
			return h, problemf("its header has an unknown key").citing("the key is %q", key)
		}
		if !p.take(",") {
			p.want("}")
			break
		}
	}
	if p.failed() || p.rest != "" || len(seen) != 3 {
		return h, problemf("its header can't be read").citing("it begins with %.60q", text)
	}
	return h, h.check()
}

// check bounds the number of values, so that sizes don't overflow.
func (h npyHeader) check() error {
	if len(h.shape) == 0 {
		return problemf("a single number, which has no rows")
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

func parseDtype(text string) (dtype, error) {
	d := dtype{order: binary.LittleEndian}
	if strings.HasSuffix(text, "O") {
		return d, problemf("elements that are Python objects; save it as numbers, booleans or text")
	}
	if len(text) < 3 {
		return d, problemf("another type; save it as numbers, booleans or text").citing("its type is %q", text)
	}
	if text[0] == '>' {
		d.order = binary.BigEndian
	}
	size, err := strconv.Atoi(text[2:])
	d.kind, d.size = text[1], size
	known := err == nil && strings.ContainsRune("<>|=", rune(text[0]))
	switch d.kind {
	case 'f':
		known = known && (size == 2 || size == 4 || size == 8)
	case 'i', 'u':
		known = known && (size == 1 || size == 2 || size == 4 || size == 8)
	case 'b':
		known = known && size == 1
	case 'U':
		known = known && size >= 1 && size <= maxChars
		d.size = 4 * size
	default:
		known = false
	}
	if !known {
		return d, problemf("another type; save it as numbers, booleans or text").citing("its type is %q", text)
	}
	return d, nil
}

// cell decodes one element.
func (d dtype) cell(b []byte) cell {
	var v float64
	switch d.kind {
	case 'U':
		var s strings.Builder
		for i := 0; i+4 <= len(b); i += 4 {
			if r := d.order.Uint32(b[i:]); r != 0 { // zeros pad short texts
				s.WriteRune(rune(min(r, utf8.MaxRune+1)))
			}
		}
		return textCell(s.String())
	case 'f':
		switch d.size {
		case 2:
			v = half(d.order.Uint16(b))
		case 4:
			v = float64(math.Float32frombits(d.order.Uint32(b)))
		default:
			v = math.Float64frombits(d.order.Uint64(b))
		}
	default:
		v = d.whole(b)
	}
	return cell{kind: number, number: v}
}

// whole decodes integers and booleans.
func (d dtype) whole(b []byte) float64 {
	var u uint64
	switch d.size {
	case 1:
		u = uint64(b[0])
	case 2:
		u = uint64(d.order.Uint16(b))
	case 4:
		u = uint64(d.order.Uint32(b))
	default:
		u = d.order.Uint64(b)
	}
	if d.kind != 'i' {
		return float64(u)
	}
	unused := 64 - 8*d.size
	return float64(int64(u<<unused) >> unused)
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

// literal parses the few Python literals of a header. After a mistake its methods return zero values.
type literal struct{ rest string }

const broken = "\x00"

func (p *literal) failed() bool { return p.rest == broken }

// take skips s and the blanks after it, if s comes next.
func (p *literal) take(s string) bool {
	rest, ok := strings.CutPrefix(p.rest, s)
	if ok {
		p.rest = strings.TrimLeft(rest, " \n")
	}
	return ok
}

func (p *literal) want(s string) {
	if !p.take(s) {
		p.rest = broken
	}
}

func (p *literal) quoted() string {
	quote := "'"
	if strings.HasPrefix(p.rest, `"`) {
		quote = `"`
	}
	p.want(quote)
	s, _, closed := strings.Cut(p.rest, quote)
	if !closed || strings.Contains(s, `\`) {
		p.rest = broken
		return ""
	}
	p.rest = p.rest[len(s):]
	p.want(quote)
	return s
}

// tuple parses a tuple such as (), (3,) or (3, 2).
func (p *literal) tuple() []int {
	var out []int
	p.want("(")
	for !p.failed() && !p.take(")") {
		end := 0
		for end < len(p.rest) && p.rest[end] >= '0' && p.rest[end] <= '9' {
			end++
		}
		n, err := strconv.Atoi(p.rest[:end])
		if err != nil {
			p.rest = broken
			return nil
		}
		out = append(out, n)
		p.rest = p.rest[end:]
		p.take("L") // as Python 2 wrote
		if !p.take(",") {
			p.want(")")
			break
		}
	}
	return out
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

// newNPYArray reads an array's header. An array of more than most bytes is an error.
func newNPYArray(in io.Reader, most uint64) (*npyArray, error) {
	in = bufio.NewReaderSize(in, 1<<16)
	h, err := readNPYHeader(in)
	if err != nil {
		return nil, err
	}
	a := &npyArray{npyHeader: h, in: in, width: 1}
	for _, d := range h.shape[1:] {
		a.width *= d
	}
	if uint64(a.bytes()) > most {
		return nil, failed(io.ErrUnexpectedEOF)
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
	axes := a.shape[1:]
	index, stride := 0, 1
	indices := make([]int, len(axes))
	for i := len(axes) - 1; i >= 0; i-- {
		indices[i] = k % axes[i]
		k /= axes[i]
	}
	for i, d := range axes {
		index += indices[i] * stride
		stride *= d
	}
	return index
}
