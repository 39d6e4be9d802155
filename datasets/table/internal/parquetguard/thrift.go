package parquetguard

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

// The types of Thrift's compact protocol
// (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md), in which Parquet's metadata are.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftInt16  = 4
	thriftInt32  = 5
	thriftInt64  = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// maxDepth bounds the nesting of structs and lists. Parquet's metadata nest about ten deep.
const maxDepth = 32

var errThrift = errors.New("its metadata are damaged")

// thriftReader reads a struct without building it.
type thriftReader struct {
	rest []byte
	path []int16 // field numbers of the structs that are open
	deep int     // number of structs, lists and maps that are open
	// visit, if not nil, is called with each integer that is outside of lists and maps, and with each boolean as 1 or
	// 0.
	visit func(path []int16, v int64)
}

// walkThrift reads the struct at the beginning of in, calls visit with its numbers, and returns its length. It returns
// [io.ErrUnexpectedEOF] if the struct, or a length in it, goes beyond the end of in.
func walkThrift(in []byte, visit func(path []int16, v int64)) (int, error) {
	r := &thriftReader{rest: in, visit: visit}
	err := r.structure()
	return len(in) - len(r.rest), err
}

func (r *thriftReader) structure() error {
	r.path = append(r.path, 0)
	defer func() { r.path = r.path[:len(r.path)-1] }()
	for {
		id := &r.path[len(r.path)-1] // anew each time: deeper structs may have moved the path
		head, err := r.byte()
		if err != nil || head == 0 {
			return err
		}
		if delta := int16(head >> 4); delta != 0 {
			*id += delta
		} else {
			v, err := r.varint()
			if err != nil {
				return err
			}
			*id = int16(v)
		}
		switch kind := head & 15; kind {
		case thriftTrue, thriftFalse: // these are their own values
			if r.visit != nil {
				r.visit(r.path, thriftFalse-int64(kind))
			}
		default:
			if err := r.value(kind); err != nil {
				return err
			}
		}
	}
}

func (r *thriftReader) value(kind byte) error {
	if r.deep++; r.deep > maxDepth {
		return errThrift
	}
	defer func() { r.deep-- }()
	switch kind {
	case thriftTrue, thriftFalse, thriftByte: // in lists all of them take a byte
		_, err := r.byte()
		return err
	case thriftInt16, thriftInt32, thriftInt64:
		v, err := r.varint()
		if err == nil && r.visit != nil {
			r.visit(r.path, v)
		}
		return err
	case thriftDouble:
		return r.skip(8)
	case thriftBinary:
		n, err := r.size()
		if err != nil {
			return err
		}
		return r.skip(n)
	case thriftStruct:
		return r.structure()
	case thriftList, thriftSet:
		head, err := r.byte()
		if err != nil {
			return err
		}
		n := int(head >> 4)
		if n == 15 {
			if n, err = r.size(); err != nil {
				return err
			}
		}
		return r.elements(n, head&15)
	case thriftMap:
		n, err := r.size()
		if err != nil || n == 0 {
			return err
		}
		kinds, err := r.byte()
		if err != nil {
			return err
		}
		return r.elements(n, kinds>>4, kinds&15)
	}
	return errThrift
}

// elements reads the n elements of a list, or pairs of a map. Each takes at least one byte.
func (r *thriftReader) elements(n int, kinds ...byte) error {
	if n > len(r.rest) {
		return io.ErrUnexpectedEOF
	}
	defer func(visit func([]int16, int64)) { r.visit = visit }(r.visit)
	r.visit = nil
	for range n {
		for _, kind := range kinds {
			if err := r.value(kind); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *thriftReader) byte() (byte, error) {
	if len(r.rest) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b, nil
}

func (r *thriftReader) skip(n int) error {
	if n > len(r.rest) {
		return io.ErrUnexpectedEOF
	}
	r.rest = r.rest[n:]
	return nil
}

// size reads a length.
func (r *thriftReader) size() (int, error) {
	v, n := binary.Uvarint(r.rest)
	switch {
	case n == 0:
		return 0, io.ErrUnexpectedEOF
	case n < 0 || v > 1<<31-1:
		return 0, errThrift
	}
	r.rest = r.rest[n:]
	return int(v), nil
}

// varint reads a zigzag number.
func (r *thriftReader) varint() (int64, error) {
	v, n := binary.Varint(r.rest)
	switch {
	case n == 0:
		return 0, io.ErrUnexpectedEOF
	case n < 0:
		return 0, errThrift
	}
	r.rest = r.rest[n:]
	return v, nil
}

// at reports whether path leads through these fields.
func at(path []int16, fields ...int16) bool { return slices.Equal(path, fields) }
