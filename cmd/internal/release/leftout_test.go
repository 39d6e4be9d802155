package release

import (
	"fmt"
	"testing"
)

// The text has a bounded length, and counts all columns.
func TestLeftOut(t *testing.T) {
	for _, c := range []struct {
		reasons, each, learned int
		want                   string
	}{
		{0, 9, 3, ""},
		{1, 1, 1, "c0 (r0); 1 of 2 columns is learned from"},
		{2, 5, 0, "c0, c1, c2, c3, c4 (r0), c0, c1, c2, c3, c4 (r1); 0 of 10 columns are learned from"},
		{1, 6, 2, "c0, c1, c2, c3 and 2 more (r0); 2 of 8 columns are learned from"},
		{8, 1, 2, "c0 (r0), c0 (r1), c0 (r2), c0 (r3), c0 (r4), c0 (r5), and 2 more for other reasons; 2 of 10 columns are learned from"},
	} {
		var l LeftOut
		for i := range c.each { // of each reason in turn
			for why := range c.reasons {
				l.Add(fmt.Sprint("c", i), fmt.Sprint("r", why))
			}
		}
		if got := l.Text(c.learned); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
