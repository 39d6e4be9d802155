package kerneltest

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestEnumerate(t *testing.T) {
	numbers := map[string]int{"earlier": 4}
	names, err := enumerate(" a, b = 7,\n\tc, d = earlier + 3, e = b+c + 1 ,", numbers)
	if err != nil || !slices.Equal(names, []string{"a", "b", "c", "d", "e"}) ||
		!maps.Equal(numbers, map[string]int{"earlier": 4, "a": 0, "b": 7, "c": 8, "d": 7, "e": 16}) {
		t.Errorf("%v, %v, %v", names, numbers, err)
	}
	for list, want := range map[string]string{"a = x": "a =", "b = 1": "b is defined twice", "z = 1 << 3": "z ="} {
		if _, err := enumerate(list, numbers); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", list, err)
		}
	}
}
