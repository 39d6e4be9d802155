package walk

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/internal/compile"
)

// A pooling's rectangles are the pixels of each window and the windows that contain each pixel; for windows of two
// pixels they may include windows that don't.
func TestRectangles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWindow(t)
		w.DilationH, w.DilationW = 1, 1
		w.PadH, w.PadW = min(w.PadH, w.KH-1), min(w.PadW, w.KW-1)
		w.H, w.W = max(w.H, w.KH-w.PadH), max(w.W, w.KW-w.PadW)
		w.OutH, w.OutW = (w.H+2*w.PadH-w.KH)/w.StrideH+1, (w.W+2*w.PadW-w.KW)/w.StrideW+1
		forward, back := rectangles(w, false), rectangles(w, true)
		if len(forward) != 2*w.OutH*w.OutW || len(back) != 2*w.H*w.W {
			t.Fatalf("%+v: %d and %d integers", w, len(forward), len(back))
		}
		lies := func(window, pixel int) bool {
			y, x := pixel/w.W-window/w.OutW*w.StrideH+w.PadH, pixel%w.W-window%w.OutW*w.StrideW+w.PadW
			return y >= 0 && y < w.KH && x >= 0 && x < w.KW
		}
		inside := func(table []int32, k, width, planeRows int) (out []int) {
			first, rows, columns := int(table[2*k]), int(table[2*k+1])>>16, int(table[2*k+1])&0xffff
			if rows*columns > 0 && (first%width+columns > width || first/width+rows > planeRows || first < 0) {
				t.Fatalf("%+v: entry %d begins at %d and has %d rows and %d columns", w, k, first, rows, columns)
			}
			for i := range rows {
				for j := range columns {
					out = append(out, first+i*width+j)
				}
			}
			return out
		}
		for window := range w.OutH * w.OutW {
			var want []int
			for pixel := range w.H * w.W {
				if lies(window, pixel) {
					want = append(want, pixel)
				}
			}
			if got := inside(forward, window, w.W, w.H); !slices.Equal(got, want) {
				t.Fatalf("%+v: window %d has pixels %v, want %v", w, window, got, want)
			}
		}
		for pixel := range w.H * w.W {
			var want []int
			for window := range w.OutH * w.OutW {
				if lies(window, pixel) {
					want = append(want, window)
				}
			}
			got := inside(back, pixel, w.OutW, w.OutH)
			if w.KH == 2 && w.KW == 2 && w.OutH > 1 && w.OutW > 1 && len(got) != 4 {
				t.Fatalf("%+v: %d windows for pixel %d", w, len(got), pixel)
			}
			if w.KH == 2 || w.KW == 2 {
				got = slices.DeleteFunc(got, func(window int) bool { return !lies(window, pixel) })
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%+v: pixel %d lies in windows %v, want %v", w, pixel, got, want)
			}
		}
	})
}

// Every pixel meets the elements of the window that its meeting lists, at its positions in the padded gradient, only.
func TestMeetings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWindow(t)
		before := rapid.IntRange(0, 9).Draw(t, "before")
		table := meetings(w.KH, w.PadH, w.StrideH, w.DilationH, w.H, before)
		pixels := 0
		for first := range len(table) / MeetingWords {
			m := table[first*MeetingWords:][:MeetingWords]
			for k := range int(m[MeetingPixels]) {
				pixel := first + k*w.StrideH
				if pixel >= w.H {
					t.Fatalf("%+v: pixel %d", w, pixel)
				}
				pixels++
				var got, want [][2]int
				for e := range int(m[MeetingCount]) {
					got = append(got, [2]int{int(m[MeetingFirst] + int32(e)*m[MeetingStep]), int(m[MeetingPosition]) + k - e*int(m[MeetingBack])})
				}
				for e := range w.KH {
					if at := pixel + w.PadH - e*w.DilationH; at%w.StrideH == 0 {
						want = append(want, [2]int{e, at/w.StrideH + before})
					}
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%+v: pixel %d meets elements at positions %v, want %v", w, pixel, got, want)
				}
			}
		}
		if pixels != w.H {
			t.Fatalf("%+v: %d pixels of %d", w, pixels, w.H)
		}
	})
}

// Offsets follow from a window's geometry.
func TestOffsets(t *testing.T) {
	w := &compile.Window{C: 2, H: 9, W: 10, KH: 2, KW: 2, OutC: 1, OutH: 2, OutW: 3, StrideH: 3, StrideW: 2, DilationH: 4, DilationW: 5}
	if got, want := offsets(w), []int32{0, 2, 4, 30, 32, 34, 0, 5, 40, 45, 90, 95, 130, 135, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
