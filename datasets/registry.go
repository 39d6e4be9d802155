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
	// ClassNames are what classes are called, by number; nil where their numbers say it.
	ClassNames []string `json:"class_names,omitempty"`
	Vocabulary int      `json:"vocabulary,omitempty"` // pieces of words that texts are made of; 0 for images
	Bytes      int64    `json:"bytes"`                // of all its files as they are downloaded; 0 if it is made at run time
	// Where is the folder that holds its files, or "built in"; empty if they are not all here.
	Where string `json:"where"`
	// Edition is what unpacked files turned out to be: [OK], [Unofficial] or [Unverified]. It is empty for files
	// of which only the sizes were looked at.
	Edition  State  `json:"edition,omitempty"`
	Source   string `json:"source"` // home page
	Licence  string `json:"licence"`
	Citation string `json:"citation"`
}

// Kind is what files hold.
type Kind string

// The kinds. [Open] knows images and texts, and [Weights] knows weights.
const (
	KindImages  Kind = "images"
	KindTexts   Kind = "texts"
	KindWeights Kind = "weights" // of a trained network
)

// entry is a data set that [Open] knows, or weights.
type entry struct {
	info    Info
	files   []file
	mirrors []string // URLs that end in a slash; each has all files under their own names
	// One of these makes the set.
	images func(context.Context, *store) (*RawSet, error)
	load   func(context.Context, *store) (*Set, error)
	values Checksum // of weights
	// verify compares a set that has no files with its recorded checksum.
	verify func(context.Context) (FileStatus, error)
}

// registry lists the data sets, the default one first.
func registry() []*entry {
	return []*entry{glyphsEntry(), mnistEntry(), fashionMNISTEntry(), cifarEntry(), imdbEntry()}
}

// weights lists the trained networks whose weights a data set's features are made with.
func weights() []*entry { return []*entry{resnet20Entry()} }

func everything() []*entry { return append(registry(), weights()...) }

// AllNames returns the names that [List], [Fetch] and [Verify] know: of data sets, the default one first, and of weights.
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

// Open returns the named data set, downloading it first if it is not here. Errors: [*UnknownError];
// [ErrUnavailable] if it can't be had; [ErrInvalid], of which [*ChecksumError] is one case, if a file
// is wrong; the context's error, after which a later call resumes the download.
func Open(ctx context.Context, name string, o Options) (*Set, error) {
	e, err := lookup(registry(), name)
	if err != nil {
		return nil, err
	}
	return e.open(ctx, o)
}

func (e *entry) open(ctx context.Context, o Options) (*Set, error) {
	if e.images != nil {
		raw, err := e.openRaw(ctx, o)
		if err != nil {
			return nil, err
		}
		set := raw.set()
		return set, set.Check()
	}
	store, err := e.store(o)
	if err != nil {
		return nil, err
	}
	set, err := e.load(ctx, store)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.info.Name, err)
	}
	return set, set.Check()
}

// Describe describes the named data set without looking for it: Where and Edition are empty.
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
			info.Bytes += f.or.size // about as much
		}
	}
	return info
}

// List describes every known data set and says where its files are. Of most it looks at the sizes only; of an unpacked
// folder with known checksums it reads all, since sizes don't tell editions apart. [Verify] reads everything.
func List(o Options) ([]Info, error) {
	var infos []Info
	for _, e := range everything() {
		store, err := e.store(o)
		if err != nil {
			return nil, err
		}
		info := e.describe()
		if info.Where, info.Edition, err = store.where(); err != nil {
			return nil, fmt.Errorf("%s: %w", info.Name, err)
		}
		infos = append(infos, info)
	}
	return infos, nil
}

// Fetch downloads the files of the named data set that are not here, and verifies all of them. Its
// errors are those of [Open].
func Fetch(ctx context.Context, name string, o Options) error {
	e, err := lookup(everything(), name)
	if err != nil {
		return err
	}
	return e.fetch(ctx, o)
}

func (e *entry) fetch(ctx context.Context, o Options) error {
	store, err := e.store(o)
	if err != nil {
		return err
	}
	for _, f := range e.files {
		if store.unpacked(f) != "" {
			continue
		}
		opened, err := store.open(ctx, f)
		if err != nil {
			return fmt.Errorf("%s: %w", e.info.Name, err)
		}
		opened.Close()
	}
	return nil
}

// State is the state of a file.
type State string

// The states that [Verify] reports.
const (
	OK      State = "ok"
	Missing State = "missing"
	Corrupt State = "corrupt" // the size or the checksum is wrong
	// Unofficial: an unpacked folder that is in the right format and not the published edition. It can be
	// trained on, and results can't be compared with published ones to the last digit.
	Unofficial State = "unofficial"
	// Unverified: in the right format, and no checksum is known that could tell which edition it is.
	Unverified State = "unverified"
)

// FileStatus is what [Verify] found out about a file.
type FileStatus struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	Path  string `json:"path,omitempty"` // empty if the file is missing or the set has none
	Note  string `json:"note,omitempty"` // what a person should know about the state
	// Addresses are where a missing file can be fetched by hand.
	Addresses []string `json:"addresses,omitempty"`
	// Want is the published checksum, and Sum that of the file here; empty if there is none.
	Want Checksum `json:"want,omitempty"`
	Sum  Checksum `json:"sum,omitempty"`
}

// Verify reads every file of the named data set and compares it with its checksum; it downloads
// nothing. A set that is made at run time has one status, for all that was made. A missing or wrong
// file is a status and not an error; an error means that Verify couldn't tell.
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
	store, err := e.store(o)
	if err != nil {
		return nil, err
	}
	var all []FileStatus
	for _, f := range e.files {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		status, err := store.status(ctx, f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.info.Name, err)
		}
		all = append(all, status)
	}
	return all, nil
}
