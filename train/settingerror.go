package train

import (
	"fmt"
	"math"
)

// SettingError reports an invalid setting or argument. Setting is its name in words, Value its value and Want a
// description of valid ones.
type SettingError struct {
	Setting string
	Value   any
	Want    string
}

func (e *SettingError) Error() string {
	return fmt.Sprintf("%s is %v: want %s", e.Setting, e.Value, e.Want)
}

// finite reports whether v is neither infinite nor NaN.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
