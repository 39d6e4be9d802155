package table

import (
	"archive/zip"
	"io"
	"slices"
	"strings"
)

const maxArrays = 1 << 12

// openNPZ opens the wanted arrays of an archive: row i is element i of the first axis of each.
func openNPZ(file io.ReaderAt, size int64, wanted func(string) bool) (rows, error) {
	archive, err := zip.NewReader(file, size)
	if err != nil {
		e := failed(err)
		return nil, problemf("not an NPZ archive: %s", e.Problem).citing("%s", e.Private)
	}
	if len(archive.File) > maxArrays {
		return nil, problemf("%d entries; an NPZ archive has up to %d", len(archive.File), maxArrays)
	}
	r := &columnRows{}
	arrays := make([]*npyArray, len(archive.File)) // nil for those that are skipped
	for i, entry := range archive.File {
		name, ok := strings.CutSuffix(entry.Name, ".npy")
		if !ok {
			return nil, problemf("entry %d is no .npy array; save the arrays alone, by np.savez", i+1).citing("it is called %q", entry.Name)
		}
		f := field{name: name}
		if wanted(name) {
			if arrays[i], err = f.openArray(entry); err != nil {
				e := failed(err)
				f.problem, f.cited = e.Problem, e.Private
			}
		}
		r.header = append(r.header, f)
	}
	r.n = level(arrays)
	for i, a := range arrays {
		if a != nil && a.length() == r.n {
			r.columns = append(r.columns, a)
		} else {
			r.header[i].skipped = true
			r.columns = append(r.columns, nil)
		}
	}
	return r, nil
}

// openArray opens the array of a field. One that can't be read has a number of rows nevertheless, if its header says
// one.
func (f *field) openArray(entry *zip.File) (*npyArray, error) {
	in, err := entry.Open() // no file, and so nothing to close
	if err != nil {
		return nil, err
	}
	a, err := newNPYArray(in, entry.UncompressedSize64)
	if len(a.shape) > 0 {
		f.rows = a.length()
	}
	if err != nil {
		return nil, err
	}
	if a.width == 0 || a.width > maxWidth {
		return nil, problemf("rows of no values, or of more than %d", maxWidth).citing("its shape is %v", a.shape)
	}
	if shape := a.shape[1:]; len(shape) > 0 {
		f.shape = slices.Clone(shape)
	}
	return a, nil
}

// level returns the number of rows of the arrays that have the most bytes together. Arrays with another one, such as
// the names of columns, are skipped: it is for the caller to say whether that is an error.
func level(arrays []*npyArray) (n int) {
	bytes := map[int]int64{}
	for _, a := range arrays {
		if a != nil {
			rows := a.length()
			bytes[rows] += a.bytes()
			if more := bytes[rows] - bytes[n]; more > 0 || more == 0 && rows > n {
				n = rows
			}
		}
	}
	return n
}

func (a *npyArray) close() error { return nil }

// end also compares the archive's checksum.
func (a *npyArray) end() error {
	var more [1]byte
	n, err := io.ReadFull(a.in, more[:])
	if n > 0 {
		return problemf("it has more bytes than its shape takes").citing("its shape is %v", a.shape)
	}
	return err
}
