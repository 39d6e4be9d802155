// The random streams of package internal/random, bit for bit: ChaCha20 (RFC 8439) and Box and Muller's transform in the
// order of double operations that normals.go there states, with its coefficients.
#pragma once

#include "device.cuh"

// The purposes of the streams that a step draws from. They are part of the nonce.
enum { minibatch_stream = 5, noise_stream = 6, graph_stream = 10 };

DEVICE uint32_t rotated(uint32_t x, int n) { return x << n | x >> (32 - n); }

DEVICE void quarter(uint32_t &a, uint32_t &b, uint32_t &c, uint32_t &d) {
	a += b, d = rotated(d ^ a, 16);
	c += d, b = rotated(b ^ c, 12);
	a += b, d = rotated(d ^ a, 8);
	c += d, b = rotated(b ^ c, 7);
}

// stream names one stream of a run.
struct stream {
	uint32_t key[8];
	uint32_t purpose, trial, step;
};

// draw computes words 8 block, …, 8 block + 7 of a stream.
DEVICE void draw(const stream &s, uint32_t block, uint64_t words[8]) {
	uint32_t in[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, // "expand 32-byte k"
		s.key[0], s.key[1], s.key[2], s.key[3], s.key[4], s.key[5], s.key[6], s.key[7],
		block, s.purpose, s.trial, s.step};
	uint32_t x[16];
	for (int i = 0; i < 16; i++)
		x[i] = in[i];
	for (int round = 0; round < 10; round++) {
		quarter(x[0], x[4], x[8], x[12]);
		quarter(x[1], x[5], x[9], x[13]);
		quarter(x[2], x[6], x[10], x[14]);
		quarter(x[3], x[7], x[11], x[15]);
		quarter(x[0], x[5], x[10], x[15]);
		quarter(x[1], x[6], x[11], x[12]);
		quarter(x[2], x[7], x[8], x[13]);
		quarter(x[3], x[4], x[9], x[14]);
	}
	for (int i = 0; i < 8; i++)
		words[i] = uint64_t(x[2 * i] + in[2 * i]) | uint64_t(x[2 * i + 1] + in[2 * i + 1]) << 32;
}

// radius_squared returns -2 ln u for u = (w + 1/2) 2^-64.
DEVICE double radius_squared(uint64_t w) {
	const uint64_t one = 0x3ff0000000000000, root_half = 0x3fe6a09e667f3bcd, mantissa = (uint64_t(1) << 52) - 1;
	double a = double(w) + 0.5;
	uint64_t b = bits_of(a) + (one - root_half);
	double n = double(64 + 1023 - int64_t(b >> 52));
	double m = double_of((b & mantissa) + root_half);
	double s = (1 - m) / (1 + m);
	double z = s * s;
	double p = fma(0x1.2f045bff5a44fp-2, z, 0x1.39a1da354e2d3p-2);
	p = fma(p, z, 0x1.74663d6d775ddp-2);
	p = fma(p, z, 0x1.c71c52123f7ffp-2);
	p = fma(p, z, 0x1.24924941e3510p-1);
	p = fma(p, z, 0x1.999999997ff03p-1);
	p = fma(p, z, 0x1.5555555555592p+0);
	return fma(n, 0x1.62e42fefa39efp+0, fma(s, z * p, 4 * s));
}

// normal_pair computes two independent standard normals: the point at the radius that w1 gives and the angle of w2
// 2^-64 turns.
DEVICE void normal_pair(uint64_t w1, uint64_t w2, double &z1, double &z2) {
	double x = double(int64_t(w2 << 2)) * 0x1p-66;
	double z = x * x;

	double p = fma(0x1.e3fbe7157dc87p+1, z, -0x1.e3008fb345f72p+3);
	p = fma(p, z, 0x1.507830034a877p+5);
	p = fma(p, z, -0x1.32d2cce31bf18p+6);
	p = fma(p, z, 0x1.466bc67758c4cp+6);
	p = fma(p, z, -0x1.4abbce625be46p+5);
	p = fma(p, z, 0x1.1a62633145c07p-52);
	double sine = fma(x, 0x1.921fb54442d18p+2, x * p);

	p = fma(-0x1.afee4a6def7c0p+0, z, 0x1.f9c3d3cc528e2p+2);
	p = fma(p, z, -0x1.a6d1e138d0233p+4);
	p = fma(p, z, 0x1.e1f506749a43cp+5);
	p = fma(p, z, -0x1.55d3c7e3bf5abp+6);
	p = fma(p, z, 0x1.03c1f081b5a4fp+6);
	p = fma(p, z, -0x1.3bd3cc9be45dep+4);
	double cosine = fma(p, z, 1.0);

	// The quarter turn, rounded to nearest, is in the top two bits of v.
	uint64_t v = w2 + (uint64_t(1) << 61), sign = uint64_t(1) << 63;
	uint64_t a = bits_of(sine), b = bits_of(cosine);
	uint64_t swap = (a ^ b) & (0 - (v >> 62 & 1));
	a ^= swap ^ (v & sign);
	b ^= swap ^ ((v ^ v << 1) & sign);
	double r = sqrt(radius_squared(w1));
	z1 = r * double_of(b);
	z2 = r * double_of(a);
}
