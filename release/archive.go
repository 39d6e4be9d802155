package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"
)

// file is a file of an archive.
type file struct {
	name    string // with slashes, in the archive's folder
	mode    fs.FileMode
	content []byte
}

// pack returns an archive of one folder: zip, or else a gzipped tar. The same files give the same bytes in any order:
// names are sorted, every time is the given one, and owners are 0. Two files of one name are an error.
func pack(zipped bool, folder string, files []file, at time.Time) ([]byte, error) {
	files = slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.name, b.name) })
	for i, f := range files {
		if !fs.ValidPath(f.name) || strings.Contains(f.name, `\`) {
			return nil, fmt.Errorf("file %q: not a path in an archive", f.name)
		}
		if i > 0 && files[i-1].name == f.name {
			return nil, fmt.Errorf("two files are called %s", f.name)
		}
	}
	var b bytes.Buffer
	var err error
	if zipped {
		err = writeZip(&b, folder, files, at)
	} else {
		err = writeTar(&b, folder, files, at)
	}
	return b.Bytes(), err
}

func writeTar(b *bytes.Buffer, folder string, files []file, at time.Time) error {
	compressed, err := gzip.NewWriterLevel(b, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(compressed)
	for _, f := range files {
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: folder + "/" + f.name, Size: int64(len(f.content)), Mode: int64(f.mode.Perm()),
			ModTime: at.Truncate(time.Second),
		}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := w.Write(f.content); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return compressed.Close()
}

func writeZip(b *bytes.Buffer, folder string, files []file, at time.Time) error {
	w := zip.NewWriter(b)
	for _, f := range files {
		h := &zip.FileHeader{Name: folder + "/" + f.name, Method: zip.Deflate, Modified: at.UTC().Truncate(time.Second)}
		h.SetMode(f.mode.Perm())
		to, err := w.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := to.Write(f.content); err != nil {
			return err
		}
	}
	return w.Close()
}

// sumsFile returns sums in the format of sha256sum, sorted by name.
func sumsFile(sums map[string][sha256.Size]byte) []byte {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&b, "%x  %s\n", sums[name], name)
	}
	return b.Bytes()
}
