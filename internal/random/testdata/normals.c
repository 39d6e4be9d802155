// An independent twin of Stream.Normals in C: ChaCha20 written from RFC 8439, the transform from the comments of
// normals.go. It writes the first 2^16 normals of the key in hexadecimal on its command line, stream
// ID{Noise, 1, 2}, as the machine's (little-endian) doubles. TestNormalsGolden holds the digest of its output:
//
//	gcc -O2 -ffp-contract=off normals.c -o normals -lm    (gcc 12.2.0)
//	./normals $(printf 'dptrain insecure key v1\1\0\0\0\0\0\0\0' | sha256sum | cut -c1-64) | sha256sum
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint32_t rol(uint32_t x, int n) { return x << n | x >> (32 - n); }

static void quarter(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d) {
	*a += *b, *d = rol(*d ^ *a, 16);
	*c += *d, *b = rol(*b ^ *c, 12);
	*a += *b, *d = rol(*d ^ *a, 8);
	*c += *d, *b = rol(*b ^ *c, 7);
}

static void block(const uint32_t state[16], uint32_t x[16]) {
	memcpy(x, state, 64);
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 4; i++)
			quarter(&x[i], &x[4 + i], &x[8 + i], &x[12 + i]);
		for (int i = 0; i < 4; i++)
			quarter(&x[i], &x[4 + (i + 1) % 4], &x[8 + (i + 2) % 4], &x[12 + (i + 3) % 4]);
	}
	for (int i = 0; i < 16; i++)
		x[i] += state[i];
}

static uint64_t bits(double x) {
	uint64_t b;
	memcpy(&b, &x, 8);
	return b;
}

static double from_bits(uint64_t b) {
	double x;
	memcpy(&x, &b, 8);
	return x;
}

static double horner(const double *c, int n, double z) {
	double p = c[n - 1];
	for (int i = n - 2; i >= 0; i--)
		p = fma(p, z, c[i]);
	return p;
}

static const double logarithm[] = {0x1.5555555555592p+0, 0x1.999999997ff03p-1, 0x1.24924941e3510p-1,
	0x1.c71c52123f7ffp-2, 0x1.74663d6d775ddp-2, 0x1.39a1da354e2d3p-2, 0x1.2f045bff5a44fp-2};
static const double sine[] = {0x1.1a62633145c07p-52, -0x1.4abbce625be46p+5, 0x1.466bc67758c4cp+6,
	-0x1.32d2cce31bf18p+6, 0x1.507830034a877p+5, -0x1.e3008fb345f72p+3, 0x1.e3fbe7157dc87p+1};
static const double cosine[] = {1, -0x1.3bd3cc9be45dep+4, 0x1.03c1f081b5a4fp+6, -0x1.55d3c7e3bf5abp+6,
	0x1.e1f506749a43cp+5, -0x1.a6d1e138d0233p+4, 0x1.f9c3d3cc528e2p+2, -0x1.afee4a6def7c0p+0};

static double radius_squared(uint64_t w) {
	const uint64_t one = bits(1), sqrt_half = bits(0x1.6a09e667f3bcdp-1);
	uint64_t b = bits((double)w + 0.5) + (one - sqrt_half);
	double n = 64 + 1023 - (int)(b >> 52);
	double m = from_bits((b & 0xfffffffffffff) + sqrt_half);
	double s = (1 - m) / (1 + m), z = s * s;
	return fma(n, 0x1.62e42fefa39efp+0, fma(s, z * horner(logarithm, 7, z), 4 * s));
}

static void normal_pair(uint64_t w1, uint64_t w2, double pair[2]) {
	double r = sqrt(radius_squared(w1));
	double x = (double)(int64_t)(w2 << 2) * 0x1p-66, z = x * x;
	double s = fma(x, 0x1.921fb54442d18p+2, x * horner(sine, 7, z)), c = horner(cosine, 8, z);
	switch ((w2 + (1ull << 61)) >> 62) {
	case 0: pair[0] = r * c, pair[1] = r * s; break;
	case 1: pair[0] = r * -s, pair[1] = r * c; break;
	case 2: pair[0] = r * -c, pair[1] = r * -s; break;
	case 3: pair[0] = r * s, pair[1] = r * -c; break;
	}
}

int main(int argc, char **argv) {
	uint32_t state[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
	uint8_t key[32];
	if (argc != 2 || strlen(argv[1]) != 64)
		return 1;
	for (int i = 0; i < 32; i++)
		if (sscanf(argv[1] + 2 * i, "%2hhx", &key[i]) != 1)
			return 1;
	memcpy(state + 4, key, 32);
	state[13] = 6, state[14] = 1, state[15] = 2; // the nonce: purpose Noise, trial 1, step 2
	for (; state[12] < (1 << 16) / 8; state[12]++) {
		uint32_t x[16];
		uint64_t words[8];
		double normals[8];
		block(state, x);
		memcpy(words, x, 64);
		for (int i = 0; i < 8; i += 2)
			normal_pair(words[i], words[i + 1], normals + i);
		fwrite(normals, sizeof(double), 8, stdout);
	}
	return 0;
}
