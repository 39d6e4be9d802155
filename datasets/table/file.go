package table

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// File is an open file of rows, for [Infer], [Schema.Count] and [Schema.Read]. They and its methods read it from the
// beginning, through the same descriptor, so they never read another file that was given the same name. If the file
// was written to since [Open], they return an [*Error].
type File struct {
	path   string
	file   *os.File
	opened os.FileInfo // size and modification time when it was opened

	names    []string          // see Columns
	spelling map[string]string // of names in NFC: see call
	unheaded string            // what looks like data instead of names
	blank    bool              // whether rows of empty cells at the end were left out

	keepGoing bool
	bad       map[int]*Error // of the last pass, if it kept going: see Samples.Bad
}

// KeepGoing is for predictions. Rows that can't be read are then no error of [Schema.Read] for [Predicting], which
// lists them in Samples.Bad, and have empty texts in [File.Cells]. If no row can be read, the first
// one's error is returned.
func (f *File) KeepGoing() { f.keepGoing = true }

// Open opens a file for reading. The extension of its name, one of [Formats], determines its format. Open doesn't read
// it yet. The caller must close it.
func Open(path string) (*File, error) {
	if formatOf(path) == "" {
		remedy := ""
		switch strings.ToLower(filepath.Ext(path)) {
		case ".xlsx", ".xls", ".ods":
			remedy = "; save the sheet as CSV UTF-8"
		case ".zip":
			remedy = "; unpack it"
		}
		return nil, &Error{File: path, Problem: fmt.Sprintf("its name says no format; the formats are %s%s", strings.Join(Formats(), ", "), remedy)}
	}
	info, err := os.Stat(path) // first, as opening a named pipe can block forever
	if err != nil {
		return nil, err
	}
	if err := checkKind(path, info); err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err = file.Stat(); err != nil {
		_ = file.Close() // nothing was written
		return nil, err
	}
	return &File{path: path, file: file, opened: info}, nil
}

// Close closes the file. A nil file has nothing to close.
func (f *File) Close() error {
	if f == nil {
		return nil
	}
	return f.file.Close()
}

// formatOf returns the format that a name ends in, or "".
func formatOf(path string) string {
	name := strings.ToLower(filepath.Base(path))
	if i := slices.IndexFunc(Formats(), func(suffix string) bool { return strings.HasSuffix(name, suffix) }); i >= 0 {
		return Formats()[i]
	}
	return ""
}

func checkKind(path string, info os.FileInfo) error {
	switch {
	case info.IsDir():
		return &Error{File: path, Problem: "a folder, not a file"}
	case !info.Mode().IsRegular():
		return &Error{File: path, Problem: "not a regular file; save the rows to one"}
	case info.Size() == 0:
		return &Error{File: path, Problem: "empty"}
	}
	return nil
}

var errNoFile = errors.New("file: none; Open returns one beside a nil error")

// pass calls use with all rows of the file, in the wanted columns; nil means all, by the names in the header. Its
// errors and the errors of use name the file. If the file has changed, pass returns that error, whatever use returned.
func (f *File) pass(wanted func(name string) bool, use func(rows) error) error {
	if f == nil {
		return errNoFile
	}
	if err := f.checkUnchanged(); err != nil {
		return err
	}
	called := f.called
	if wanted == nil {
		called, wanted = func(name string) string { return name }, func(string) bool { return true }
	}
	r, err := f.rows(func(name string) bool { return wanted(called(name)) })
	if err == nil {
		fields := r.fields()
		f.names = make([]string, len(fields))
		for i := range fields {
			fields[i].name = called(fields[i].name)
			f.names[i] = fields[i].name
		}
		c, ok := r.(*csvRows)
		if ok {
			f.unheaded = unheaded(f.names)
		}
		if err = checkFields(fields); err == nil {
			if f.keepGoing {
				f.bad = map[int]*Error{}
				r = &lenientRows{rows: r, bad: f.bad}
			}
			err = use(r)
			f.blank = f.blank || ok && len(c.blank) > 0
		}
		if closed := r.close(); err == nil {
			err = closed
		}
	}
	if changed := f.checkUnchanged(); changed != nil {
		return changed
	}
	if err != nil {
		return inFile(f.path, err)
	}
	return nil
}

// call gives columns these names, where the header's differ in Unicode's form alone: in it é is one character or two.
func (f *File) call(names ...string) {
	for _, name := range names {
		if form := norm.NFC.String(name); f != nil && form != name {
			if f.spelling == nil {
				f.spelling = map[string]string{}
			}
			f.spelling[form] = name
		}
	}
}

// called returns the name of a column that the header calls so: as call gave it, or else in NFC.
func (f *File) called(name string) string {
	name = norm.NFC.String(name)
	return cmp.Or(f.spelling[name], name)
}

// checkUnchanged compares the file's size and time of modification with those at [Open]. It misses a write that keeps
// the size and restores that time, or falls within its resolution of some milliseconds.
func (f *File) checkUnchanged() error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() != f.opened.Size() || !info.ModTime().Equal(f.opened.ModTime()) {
		return &Error{File: f.path, Problem: "it has changed since it was opened; run again when nothing writes to it"}
	}
	return nil
}

// rows reads the header of the file.
func (f *File) rows(wanted func(name string) bool) (rows, error) {
	size := f.opened.Size()
	switch format := formatOf(f.path); format {
	case ".parquet":
		return openParquet(f.file, size, wanted)
	case ".npz":
		return openNPZ(f.file, size, wanted)
	default:
		comma := ','
		if strings.Contains(strings.ToLower(filepath.Base(f.path)), ".tsv") {
			comma = '\t'
		}
		return openCSV(io.NewSectionReader(f.file, 0, size), comma, strings.HasSuffix(format, ".gz"))
	}
}

// inFile adds the file to an error that doesn't name one, unless it is about an option.
func inFile(path string, err error) error {
	if _, ok := errors.AsType[*OptionError](err); ok {
		return err
	}
	e := *failed(err)
	e.File = cmp.Or(e.File, path)
	return &e
}
