package datasets

import "math/rand/v2"

// pose is the position and the look of the digit in one image.
type pose struct {
	// Inverse map from pixels to the glyph's plane, where a digit is 1 high and centred at 0:
	// (u, v) = inverse · (x - x0, y - y0).
	inverse [2][2]float64
	x0, y0  float64
	scale   float64 // pixels per unit, for distances
	weight  float64 // added to the outline on every side, in pixels
	ink     float64 // brightness of the strokes, 0 to 255
}

// drawPose draws position, size, rotation, shear, stroke and brightness.
func drawPose(rng *rand.Rand) pose {
	var p pose
	const centre = glyphsSide / 2.0
	p.x0 = centre + uniform(rng, -3, 3)
	p.y0 = centre + uniform(rng, -3, 3)

	// The tangent t of half the angle defines a rotation without math.Sin, whose last bit may differ between platforms.
	t := uniform(rng, -0.17, 0.17) // up to 19 degrees
	norm := 1 + mul(t, t)
	cos, sin := (1-mul(t, t))/norm, 2*t/norm
	shear := uniform(rng, -0.25, 0.25)
	height := uniform(rng, 18, 22)
	width := mul(height, uniform(rng, 0.8, 1.2))

	// forward = rotation · shear · diag(width, height), inverted by hand.
	a, b := mul(cos, width), mul(mul(cos, shear)-sin, height)
	c, d := mul(sin, width), mul(mul(sin, shear)+cos, height)
	det := mul(a, d) - mul(b, c)
	p.inverse = [2][2]float64{{d / det, -b / det}, {-c / det, a / det}}

	p.scale = (width + height) / 2
	p.weight = uniform(rng, -0.3, 0.8)
	p.ink = uniform(rng, 180, 255)
	return p
}

// render draws the glyph on a black image.
func (p pose) render(glyph *field, pixels []byte) {
	for y := range glyphsSide {
		dy := float64(y) + 0.5 - p.y0
		for x := range glyphsSide {
			dx := float64(x) + 0.5 - p.x0
			u := mul(p.inverse[0][0], dx) + mul(p.inverse[0][1], dy)
			v := mul(p.inverse[1][0], dx) + mul(p.inverse[1][1], dy)
			// The fraction of a pixel that a straight edge at this distance covers.
			cover := 0.5 + p.weight - mul(glyph.at(u, v), p.scale)
			pixels[y*glyphsSide+x] = byte(mul(min(max(cover, 0), 1), p.ink))
		}
	}
}

// addNoise adds to each pixel the sum of four uniform draws, which is nearly normal and exact in integers. Their
// standard deviation is drawn for the image.
func addNoise(rng *rand.Rand, pixels []byte) {
	// Four 16-bit draws have the standard deviation sqrt(4/12)·65536 = 37837.
	const unit = 37837
	level := int64(uniform(rng, 0, 32)) // standard deviation, in grey levels
	for i, p := range pixels {
		w := rng.Uint64()
		sum := int64(w&0xffff + w>>16&0xffff + w>>32&0xffff + w>>48)
		noise := (sum - 2*65535) * level / unit
		pixels[i] = byte(min(max(int64(p)+noise, 0), 255))
	}
}
