package train

import (
	"fmt"
	"math"
)

// SettingError says which setting can't be used. Setting is its name in words, Value what it holds and
// Want what would do.
type SettingError struct {
	Setting string
	Value   any
	Want    string
}

func (e *SettingError) Error() string {
	return fmt.Sprintf("%s is %v: want %s", e.Setting, e.Value, e.Want)
}

// finite is false for NaN as well, which no comparison catches.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
