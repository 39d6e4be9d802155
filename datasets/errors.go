package datasets

import (
	"errors"
	"fmt"
	"strings"
)

// What errors of this package mean; test with [errors.Is].
var (
	// ErrInvalid: the data are there and are wrong.
	ErrInvalid = errors.New("invalid data")
	// ErrUnavailable: the data are neither here nor on any mirror that can be reached.
	ErrUnavailable = errors.New("data not available")
)

// kindError is a message of its own that still matches one of the sentinels.
type kindError struct {
	kind    error
	message string
}

func (e *kindError) Error() string { return e.message }
func (e *kindError) Unwrap() error { return e.kind }

func invalidf(format string, args ...any) error {
	return &kindError{ErrInvalid, fmt.Sprintf(format, args...)}
}

// ChecksumError is a file whose contents are not those of the known data set. It matches
// [ErrInvalid].
type ChecksumError struct {
	Path               string
	WantSHA256, SHA256 string // in hexadecimal
	WantSize, Size     int64  // in bytes
}

func (e *ChecksumError) Error() string {
	size := ""
	if e.Size != e.WantSize {
		size = fmt.Sprintf(" and its size %d bytes instead of %d", e.Size, e.WantSize)
	}
	return fmt.Sprintf("%s: SHA-256 is %s, want %s%s; the file is damaged or another edition, replace it",
		e.Path, e.SHA256, e.WantSHA256, size)
}

// Unwrap returns [ErrInvalid].
func (e *ChecksumError) Unwrap() error { return ErrInvalid }

// UnknownError is a name that no data set has.
type UnknownError struct {
	Name    string
	Nearest string // the most similar known name; empty if none is similar
}

func (e *UnknownError) Error() string {
	hint := ""
	if e.Nearest != "" {
		hint = fmt.Sprintf("; did you mean %q?", e.Nearest)
	}
	return fmt.Sprintf("unknown data set %q (known: %s)%s", e.Name, strings.Join(Names(), ", "), hint)
}

// nearest returns the name with the smallest edit distance to s, whatever its case, or "" if even that
// one would need more than half of its letters changed.
func nearest(s string, names []string) string {
	s = strings.ToLower(s)
	best, bestDistance := "", 0
	for _, name := range names {
		d := editDistance(s, name)
		if 2*d <= len(name) && (best == "" || d < bestDistance) {
			best, bestDistance = name, d
		}
	}
	return best
}

// editDistance is Levenshtein's: insertions, deletions and replacements of bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
