package page

import (
	"math"
	"unicode/utf8"
)

// sides are where a name can be beside its dot, by the anchor of its text.
var sides = []struct {
	anchor string
	dx, dy float64
}{{"start", 10, -8}, {"start", 10, 18}, {"end", -10, 18}, {"end", -10, -8}, {"middle", 0, -13}, {"middle", 0, 23}}

// namesOf puts the name of each dot where it covers least of the curves, dots and other names.
func (c chart) namesOf(dots []dot) []drawnName {
	taken := c.taken()
	boxes := make([]box, len(dots))
	chosen := make([]int, len(dots))
	for range 3 { // names of later dots may make a better place for an earlier one's
		for i, p := range dots {
			least := math.Inf(1)
			for s := range sides {
				b := c.beside(p, s)
				cost := b.outside(c.frame())
				for _, t := range taken {
					if b.holds(t) {
						cost++
					}
				}
				for j, other := range boxes {
					if j != i && b.left < other.right && other.left < b.right && b.top < other.bottom && other.top < b.bottom {
						cost += 20
					}
				}
				if cost < least {
					least, boxes[i], chosen[i] = cost, b, s
				}
			}
		}
	}
	var names []drawnName
	for i, p := range dots {
		b, anchor := boxes[i], sides[chosen[i]].anchor
		x := map[string]float64{"start": b.left, "middle": (b.left + b.right) / 2, "end": b.right}[anchor]
		names = append(names, drawnName{p.class, anchor, px(x), px(b.bottom - 3), italics(p.name)})
	}
	return names
}

// beside returns the space of a dot's name on a side.
func (c chart) beside(p dot, side int) box {
	x, y, _ := c.position(p.x, p.y)
	at, width := sides[side], nameWidth(p.name)
	left := x + at.dx
	switch at.anchor {
	case "end":
		left -= width
	case "middle":
		left -= width / 2
	}
	bottom := y + at.dy + 3
	return box{left, left + width, bottom - labelHeight, bottom}
}

// nameWidth estimates the width of a name.
func nameWidth(name string) float64 { return 8 * float64(utf8.RuneCountInString(name)) }

// outside returns a large cost for a box that leaves the chart.
func (b box) outside(f frame) float64 {
	return 1000 * (math.Max(0, f.left-b.left) + math.Max(0, b.right-chartWidth) + math.Max(0, f.top-18-b.top) + math.Max(0, b.bottom-f.bottom))
}

// box is the space that a name takes.
type box struct{ left, right, top, bottom float64 }

func (b box) holds(p [2]float64) bool {
	return p[0] >= b.left && p[0] <= b.right && p[1] >= b.top && p[1] <= b.bottom
}

// taken returns points on all curves, close to each other, and the dots.
func (c chart) taken() (points [][2]float64) {
	for _, k := range c.curves {
		for i := 1; i < len(k.x); i++ {
			x0, y0, ok0 := c.position(k.x[i-1], k.y[i-1])
			x1, y1, ok1 := c.position(k.x[i], k.y[i])
			for u := 0.; ok0 && ok1 && u <= 1; u += 0.05 {
				points = append(points, [2]float64{x0 + u*(x1-x0), y0 + u*(y1-y0)})
			}
		}
	}
	for _, p := range c.dots {
		if x, y, ok := c.position(p.x, p.y); ok {
			points = append(points, [2]float64{x, y})
		}
	}
	return points
}
