package datasets

import (
	"context"
	"fmt"
)

// Info describes a data set.
type Info struct {
	Name        string `json:"name"`
	Kind        Kind   `json:"kind"`
	Description string `json:"description"`
	Train       int    `json:"train"` // samples
	Test        int    `json:"test"`
	SampleShape []int  `json:"sample_shape"`
	Classes     int    `json:"classes"`
	// ClassNames are the names of the classes, by index; nil if their names are their indices.
	ClassNames []string `json:"class_names,omitempty"`
	Vocabulary int      `json:"vocabulary,omitempty"` // number of different tokens; 0 for images
	Bytes      int64    `json:"bytes"`                // of all files as downloaded; 0 if the set is made at run time
	// Where is the folder with the set's files, or "built in". It is empty if a file is missing.
	Where string `json:"where"`
	// Edition is [OK], [Unofficial] or [Unverified] for an unpacked folder. It is empty for other files, whose sizes
	// alone were checked.
	Edition  State  `json:"edition,omitempty"`
	Source   string `json:"source"` // home page
	Licence  string `json:"licence"`
	Citation string `json:"citation"`
}

// Kind is the kind of contents of a set's files.
type Kind string

// The kinds. [Open] reads images and texts; [Weights] reads weights.
const (
	KindImages  Kind = "images"
	KindTexts   Kind = "texts"
	KindWeights Kind = "weights" // of a trained network
)

// entry is a data set, or weights.
type entry struct {
	info    Info
	files   []file
	mirrors []string // URLs that end in a slash; each has all files under their own names
	// load loads the set. If it is nil, images loads the set, which is then normalised.
	load   func(context.Context, *store) (*Set, error)
	images func(context.Context, *store) (*RawSet, error) // without name, classes and normalisation; nil for other sets
	// normalisation turns the bytes of images into samples; the zero value for other sets.
	normalisation Normalisation
	values        Checksum // of weights
	// verify compares a set that has no files with its recorded checksum.
	verify func(context.Context) (FileStatus, error)
}

// registry lists the data sets, the default one first.
func registry() []*entry {
	return []*entry{glyphsEntry(), mnistEntry(), fashionMNISTEntry(), cifarEntry(), imdbEntry()}
}

// weights lists the trained networks whose weights compute a data set's features.
func weights() []*entry { return []*entry{resnet20Entry()} }

func everything() []*entry { return append(registry(), weights()...) }

// Names returns the names of the data sets, the default one first.
func Names() []string { return names(registry()) }

// AllNames returns the names that [List], [Fetch] and [Verify] accept: the data sets, the default one first, and then
// the weights.
func AllNames() []string { return names(everything()) }

func names(entries []*entry) []string {
	var names []string
	for _, e := range entries {
		names = append(names, e.info.Name)
	}
	return names
}

func lookup(entries []*entry, name string) (*entry, error) {
	for _, e := range entries {
		if e.info.Name == name {
			return e, nil
		}
	}
	known := names(entries)
	return nil, &UnknownError{Name: name, Known: known, Nearest: nearestTo(name, known)}
}

// Open returns the named data set. It downloads missing files; a later call resumes an interrupted download. The error
// is an [*UnknownError] for an unknown name, or the context's error. It matches [ErrUnavailable] if a download fails,
// and [ErrInvalid] if a file is wrong, as a [*ChecksumError] does.
func Open(ctx context.Context, name string, o Options) (*Set, error) {
	e, err := lookup(registry(), name)
	if err != nil {
		return nil, err
	}
	return e.open(ctx, o)
}

func (e *entry) open(ctx context.Context, o Options) (*Set, error) {
	if e.load == nil {
		raw, err := e.openRaw(ctx, o)
		if err != nil {
			return nil, err
		}
		return raw.set(), nil
	}
	return in(e, o, func(s *store) (*Set, error) { return e.load(ctx, s) })
}

// in returns what use finds in an entry's store. Its errors name the entry.
func in[T any](e *entry, o Options, use func(*store) (T, error)) (found T, err error) {
	store, err := e.store(o)
	if err != nil {
		return found, err
	}
	if found, err = use(store); err != nil {
		err = fmt.Errorf("%s: %w", e.info.Name, err)
	}
	return found, err
}

// Describe describes the named data set without looking for its files: Where and Edition are empty.
func Describe(name string) (Info, error) {
	e, err := lookup(registry(), name)
	if err != nil {
		return Info{}, err
	}
	return e.describe(), nil
}

func (e *entry) describe() Info {
	info := e.info
	for _, f := range e.files {
		info.Bytes += f.size
		if f.size == 0 && f.or != nil {
			info.Bytes += f.or.size // about the same size
		}
	}
	return info
}

// List describes all data sets and looks for their files. It checks only the sizes of files, except in an unpacked
// folder whose checksums are known: the edition depends on them. [Verify] reads all files.
func List(o Options) ([]Info, error) {
	var infos []Info
	for _, e := range everything() {
		info, err := in(e, o, func(s *store) (info Info, err error) {
			info = e.describe()
			info.Where, info.Edition, err = s.where()
			return info, err
		})
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	return infos, nil
}

// Fetch downloads the missing files of the named data set, and verifies all of its files. It returns the errors of
// [Open].
func Fetch(ctx context.Context, name string, o Options) error {
	e, err := lookup(everything(), name)
	if err != nil {
		return err
	}
	return e.fetch(ctx, o)
}

func (e *entry) fetch(ctx context.Context, o Options) error {
	_, err := in(e, o, func(s *store) (any, error) {
		for _, f := range e.files {
			if s.unpacked(f) != "" {
				continue
			}
			opened, err := s.open(ctx, f)
			if err != nil {
				return nil, err
			}
			opened.Close()
		}
		return nil, nil
	})
	return err
}

// State is the state of a file, or of a set's files.
type State string

// The states that [Verify] reports.
const (
	OK      State = "ok"
	Missing State = "missing"
	Corrupt State = "corrupt" // the size or the checksum is wrong
	// Unofficial is an unpacked folder in the right format whose files differ from the published ones. It can be
	// trained on, but results differ from published ones in the last digits.
	Unofficial State = "unofficial"
	// Unverified is an unpacked folder in the right format whose published checksums aren't known.
	Unverified State = "unverified"
)

// FileStatus is the state of a file, as reported by [Verify].
type FileStatus struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	Path  string `json:"path,omitempty"` // empty if the file is missing or the set has none
	Note  string `json:"note,omitempty"` // an explanation of the state in words
	// Addresses are URLs from which a missing file can be fetched by hand.
	Addresses []string `json:"addresses,omitempty"`
	// Want is the published checksum, and Sum the checksum of the file that was found. Each is empty if there is none.
	Want Checksum `json:"want,omitempty"`
	Sum  Checksum `json:"sum,omitempty"`
}

// Verify reads all files of the named data set, compares them with their checksums, and downloads nothing. For a set
// that is made at run time it returns a single status. A missing or wrong file is reported by its status. Verify
// returns an error only if it can't determine a status.
func Verify(ctx context.Context, name string, o Options) ([]FileStatus, error) {
	e, err := lookup(everything(), name)
	if err != nil {
		return nil, err
	}
	return e.verifyFiles(ctx, o)
}

func (e *entry) verifyFiles(ctx context.Context, o Options) ([]FileStatus, error) {
	if e.verify != nil {
		status, err := e.verify(ctx)
		return []FileStatus{status}, err
	}
	return in(e, o, func(s *store) (all []FileStatus, err error) {
		for _, f := range e.files {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			status, err := s.status(ctx, f)
			if err != nil {
				return nil, err
			}
			all = append(all, status)
		}
		return all, nil
	})
}
