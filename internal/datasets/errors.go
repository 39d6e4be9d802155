package datasets

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/internal/nearest"
)

// Kinds of errors, for [errors.Is].
var (
	// ErrInvalid reports data that are damaged, or whose format or values are wrong.
	ErrInvalid = errors.New("invalid data")
	// ErrUnavailable reports data that are not on this machine, when no mirror can be reached.
	ErrUnavailable = errors.New("data not available")
)

// kindError has its own message and matches one of the kinds.
type kindError struct {
	kind    error
	message string
}

func (e *kindError) Error() string { return e.message }
func (e *kindError) Unwrap() error { return e.kind }

func invalidf(format string, args ...any) error {
	return &kindError{ErrInvalid, fmt.Sprintf(format, args...)}
}

// ChecksumError reports a file whose checksum or size differs from the published one. It matches [ErrInvalid].
type ChecksumError struct {
	Path           string
	Want, Sum      Checksum
	WantSize, Size int64 // in bytes; WantSize is 0 if it isn't known
}

func (e *ChecksumError) Error() string {
	size := ""
	if e.Size != e.WantSize && e.WantSize != 0 {
		size = fmt.Sprintf(" and its size %d bytes instead of %d", e.Size, e.WantSize)
	}
	return fmt.Sprintf("%s: %s%s; the file is damaged or another edition, replace it", e.Path, e.Want.differs(e.Sum), size)
}

// Unwrap returns [ErrInvalid].
func (e *ChecksumError) Unwrap() error { return ErrInvalid }

// UnknownError reports that no data set has the name.
type UnknownError struct {
	Name    string
	Known   []string
	Nearest string // the most similar known name; empty if none is similar
}

func (e *UnknownError) Error() string {
	hint := ""
	if e.Nearest != "" {
		hint = fmt.Sprintf("; did you mean %q?", e.Nearest)
	}
	return fmt.Sprintf("unknown data set %q (known: %s)%s", e.Name, strings.Join(e.Known, ", "), hint)
}

// nearestTo returns the name with the fewest edits from s, ignoring case, or "" if every name needs changes of more
// than half of its letters.
func nearestTo(s string, names []string) string {
	s = strings.ToLower(s)
	return nearest.Name(names, func(name string) (int, bool) {
		d := nearest.Distance(s, name)
		return d, 2*d <= len(name)
	})
}
