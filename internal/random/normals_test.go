package random

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"slices"
	"testing"
)

// The reference functions work with 300 bits, sum plain series and share no step with the code that they check.
const precision = 300

func number(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

func integer(w uint64) *big.Float { return new(big.Float).SetPrec(precision).SetUint64(w) }

func product(x, y *big.Float) *big.Float { return new(big.Float).Mul(x, y) }

func quotient(x, y *big.Float) *big.Float { return new(big.Float).Quo(x, y) }

// 2π to 100 places, from OEIS A019692.
var twoPiBig, _, _ = big.ParseFloat("6.2831853071795864769252867665590057683943387987502"+
	"116419498891846156328125724179972560696506842341359", 10, precision, big.ToNearestEven)

// atanhBig sums Σ s^(2k+1)/(2k+1), for |s| <= 1/3.
func atanhBig(s *big.Float) *big.Float {
	sum, power, square := number(0), s, product(s, s)
	for k := 1; k < 200; k += 2 {
		sum.Add(sum, quotient(power, number(float64(k))))
		power = product(power, square)
	}
	return sum
}

// radiusSquaredBig returns -2 ln(a·2^-64).
func radiusSquaredBig(a *big.Float) *big.Float {
	mantissa := number(0)
	exponent := a.MantExp(mantissa) - 64
	one := number(1)
	ln := atanhBig(quotient(new(big.Float).Sub(mantissa, one), new(big.Float).Add(mantissa, one)))
	ln2 := atanhBig(quotient(one, number(3)))
	ln.Add(ln, product(ln2, number(float64(exponent))))
	return product(ln, number(-4))
}

// sincosBig sums the power series of sine and cosine at w·2^-64 turns.
func sincosBig(w uint64) (sin, cos *big.Float) {
	angle := product(product(integer(w), twoPiBig), number(0x1p-64))
	sin, cos = number(0), number(0)
	term := number(1)
	for k := range 100 {
		sum := cos
		if k%2 == 1 {
			sum = sin
		}
		if k%4 < 2 {
			sum.Add(sum, term)
		} else {
			sum.Sub(sum, term)
		}
		term = quotient(product(term, angle), number(float64(k+1)))
	}
	return sin, cos
}

// distance returns |got - want|.
func distance(got float64, want *big.Float) float64 {
	d, _ := new(big.Float).Sub(number(got), want).Float64()
	return math.Abs(d)
}

// ulps returns |got - want| in units of the last place of want.
func ulps(got float64, want *big.Float) float64 {
	return distance(got, want) * math.Ldexp(1, 53-want.MantExp(nil))
}

func accuracyWords(random int) []uint64 {
	words := make([]uint64, random)
	InsecureKey(2).Stream(ID{}).uint64s(words)
	for i := range random / 4 { // and the tail, down to the smallest
		words = append(words, words[i]>>(i%64))
	}
	return append(words, edgeWords()...)
}

func TestRadiusSquaredAccuracy(t *testing.T) {
	for _, w := range accuracyWords(2000) {
		// The rounding of w to a double is a displacement of u, which TestNormalsDisplacement measures.
		want := radiusSquaredBig(number(float64(w) + 0.5))
		if want.Sign() == 0 {
			if got := radiusSquared(w); got != 0 || math.Signbit(got) {
				t.Errorf("radiusSquared(%#x) = %v, want +0", w, got)
			}
			continue
		}
		if e := ulps(radiusSquared(w), want); e > 2 {
			t.Errorf("radiusSquared(%#x) is off by %.2f ulp", w, e)
		}
	}
}

func TestSincosAccuracy(t *testing.T) {
	for _, w := range accuracyWords(2000) {
		gotSin, gotCos := sincos(w)
		wantSin, wantCos := sincosBig(w)
		if w<<1 == 0 { // on the x axis, where the reference's 2π is the only error
			wantSin = number(0)
		} else if e := ulps(gotSin, wantSin); e > 2 {
			t.Errorf("sine of %#x is off by %.2f ulp", w, e)
		}
		if w<<1 == 1<<63 {
			wantCos = number(0)
		} else if e := ulps(gotCos, wantCos); e > 2 {
			t.Errorf("cosine of %#x is off by %.2f ulp", w, e)
		}
		if wantSin.Sign() == 0 && gotSin != 0 || wantCos.Sign() == 0 && gotCos != 0 {
			t.Errorf("sine, cosine of %#x = %v, %v on an axis", w, gotSin, gotCos)
		}
	}
}

// normalPairBig is Box-Muller without rounding, at the middle of w1's cell.
func normalPairBig(w1, w2 uint64) (z1, z2 *big.Float) {
	r := new(big.Float).Sqrt(radiusSquaredBig(new(big.Float).Add(integer(w1), number(0.5))))
	sin, cos := sincosBig(w2)
	return product(r, cos), product(r, sin)
}

// doc.go's bound: on average a normal is within 2^-53.5 of Box-Muller of the words in real numbers. The mean over 8,000
// normals has a standard error of 2 %, and is measured as 2^-53.7, 13 % below the bound.
func TestNormalsDisplacement(t *testing.T) {
	words := make([]uint64, 8000)
	InsecureKey(3).Stream(ID{}).uint64s(words)
	sum := 0.0
	for i := 0; i < len(words); i += 2 {
		got1, got2 := normalPair(words[i], words[i+1])
		want1, want2 := normalPairBig(words[i], words[i+1])
		sum += distance(got1, want1) + distance(got2, want2)
	}
	mean := sum / float64(len(words))
	t.Logf("mean displacement 2^%.2f", math.Log2(mean))
	if math.Log2(mean) > -53.5 {
		t.Errorf("mean displacement 2^%.2f, want at most 2^-53.5", math.Log2(mean))
	}
}

func TestNormalsTail(t *testing.T) {
	far, zero := normalPair(0, 0)
	if want := math.Sqrt(130 * math.Ln2); math.Abs(far-want) > 1e-14 || zero != 0 {
		t.Errorf("normalPair(0, 0) = %v, %v, want %v, 0", far, zero, want)
	}
	for quarter, want := range [][2]float64{{1, 0}, {0, 1}, {-1, 0}, {0, -1}} {
		z1, z2 := normalPair(0, uint64(quarter)<<62)
		if z1 != far*want[0] || z2 != far*want[1] {
			t.Errorf("%d quarter turns give %v, %v", quarter, z1, z2)
		}
	}
	if z1, z2 := normalPair(1<<64-1, 12345); z1 != 0 || z2 != 0 {
		t.Errorf("radius zero gives %v, %v", z1, z2)
	}
}

// Odd lengths, and any split into even pieces, give a prefix of the same normals.
func TestNormalsConsumption(t *testing.T) {
	key := InsecureKey(4)
	whole := make([]float64, 4*groupWords)
	key.Stream(ID{}).Normals(whole)
	eachImplementation(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 2, 3, 16, 17, groupWords - 1, groupWords, groupWords + 1, 3*groupWords + 15} {
			s := key.Stream(ID{})
			got := make([]float64, n)
			s.Normals(got)
			if !slices.Equal(got, whole[:n]) {
				t.Errorf("%d normals aren't the first %d of many", n, n)
			}
			if used := uint64(n+1) &^ 1; s.next != used {
				t.Errorf("%d normals used %d words, want %d", n, s.next, used)
			}
			rest := make([]float64, 2)
			s.Normals(rest)
			if at := (n + 1) &^ 1; !slices.Equal(rest, whole[at:at+2]) {
				t.Errorf("after %d normals the next pair isn't the stream's", n)
			}
		}
		// A stream at an odd word pairs its words from there on.
		s := key.Stream(ID{})
		s.Seek(1)
		got := make([]float64, 300)
		s.Normals(got)
		s.Seek(1)
		for i := 0; i < len(got); i += 2 {
			if z1, z2 := normalPair(s.Uint64(), s.Uint64()); got[i] != z1 || got[i+1] != z2 {
				t.Fatalf("pair %d after an odd word differs", i/2)
			}
		}
	})
}

// The definition's fingerprint: changing it changes every noise draw of every run. The digest is of the first 2^16
// normals of InsecureKey(1), stream ID{Noise, 1, 2}, as little-endian doubles. It comes from testdata/normals.c, which
// documents how; that program shares no code with this package.
func TestNormalsGolden(t *testing.T) {
	const want = "859c6a7d7437ef8f1c91e2c37876c5a9a754bfe749998934542f098abe1b542c"
	eachImplementation(t, func(t *testing.T) {
		normals := make([]float64, 1<<16)
		InsecureKey(1).Stream(ID{Noise, 1, 2}).Normals(normals)
		digest := sha256.New()
		var raw [8]byte
		for _, z := range normals {
			binary.LittleEndian.PutUint64(raw[:], math.Float64bits(z))
			digest.Write(raw[:])
		}
		if got := hex.EncodeToString(digest.Sum(nil)); got != want {
			t.Errorf("digest %s, want %s", got, want)
		}
	})
}

// The errors that normals.go states for its polynomials, evaluated without rounding.
func TestPolynomials(t *testing.T) {
	polynomial := func(z *big.Float, coefficients ...float64) *big.Float {
		sum := number(0)
		for _, c := range slices.Backward(coefficients) {
			sum = new(big.Float).Add(product(sum, z), number(c))
		}
		return sum
	}
	const steps = 300
	sMax := (1 - math.Sqrt2/2) / (1 + math.Sqrt2/2)
	for i := 1; i <= steps; i++ {
		s := number(sMax * float64(i) / steps)
		z := product(s, s)
		got := product(s, new(big.Float).Add(number(4), product(z, polynomial(z, log0, log1, log2, log3, log4, log5, log6))))
		want := product(number(4), atanhBig(s))
		if e, _ := quotient(new(big.Float).Sub(got, want), want).Float64(); math.Abs(e) > 0x1p-59 {
			t.Errorf("logarithm: relative error 2^%.2f at s = %v", math.Log2(math.Abs(e)), s)
		}

		w := uint64(i) * (1 << 61 / steps)
		x := product(integer(w), number(0x1p-64))
		z = product(x, x)
		wantSin, wantCos := sincosBig(w)
		got = product(x, new(big.Float).Add(twoPiBig, product(z, polynomial(z, sin0, sin1, sin2, sin3, sin4, sin5))))
		if e, _ := quotient(new(big.Float).Sub(got, wantSin), wantSin).Float64(); math.Abs(e) > 0x1p-57 {
			t.Errorf("sine: relative error 2^%.2f at x = %v", math.Log2(math.Abs(e)), x)
		}
		got = new(big.Float).Add(number(1), product(z, polynomial(z, cos0, cos1, cos2, cos3, cos4, cos5, cos6)))
		if e, _ := new(big.Float).Sub(got, wantCos).Float64(); math.Abs(e) > 0x1p-61 {
			t.Errorf("cosine: error 2^%.2f at x = %v", math.Log2(math.Abs(e)), x)
		}
	}
}
