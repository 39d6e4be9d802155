// The elementwise functions of package compile and their derivatives, by its numbers (func.go), in single precision.
#pragma once

#include "device.cuh"

enum {
	f_abs, f_sign, f_ceil, f_floor, f_sin, f_cos, f_exp, f_ln, f_log2, f_neg, f_square, f_sqrt, f_inverse, f_inverse_sqrt,
	f_cube, f_tanh, f_sigmoid, f_log1p, f_expm1, f_softplus,
	f_add = 64, f_sub, f_mul, f_div, f_pow, f_lt, f_gt, f_lte, f_gte, f_eq, f_ne,
	f_maximum, f_minimum
};

DEVICE float sign_of(float x) { return x > 0 ? 1.0f : x < 0 ? -1.0f : x; }

DEVICE float sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }

DEVICE float unary(int f, float x) {
	switch (f) {
	case f_abs: return fabs(x);
	case f_sign: return sign_of(x);
	case f_ceil: return ceil(x);
	case f_floor: return floor(x);
	case f_sin: return sin(x);
	case f_cos: return cos(x);
	case f_exp: return exp(x);
	case f_ln: return log(x);
	case f_log2: return log2(x);
	case f_neg: return -x;
	case f_square: return x * x;
	case f_sqrt: return sqrt(x);
	case f_inverse: return 1.0f / x;
	case f_inverse_sqrt: return 1.0f / sqrt(x);
	case f_cube: return x * x * x;
	case f_tanh: return tanh(x);
	case f_sigmoid: return sigmoid(x);
	case f_log1p: return log1p(x);
	case f_expm1: return expm1(x);
	default: return (x > 0 ? x : 0.0f) + log1p(exp(-fabs(x))); // f_softplus
	}
}

// unary_derivative returns a function's derivative at x, where its value is y.
DEVICE float unary_derivative(int f, float x, float y) {
	switch (f) {
	case f_abs: return sign_of(x);
	case f_sign:
	case f_ceil:
	case f_floor: return 0;
	case f_sin: return cos(x);
	case f_cos: return -sin(x);
	case f_exp: return y;
	case f_ln: return 1.0f / x;
	case f_log2: return 1.0f / (x * 0.693147180559945f);
	case f_neg: return -1;
	case f_square: return 2 * x;
	case f_sqrt: return 0.5f / y;
	case f_inverse: return -y * y;
	case f_inverse_sqrt: return -0.5f * y * y * y;
	case f_cube: return 3 * x * x;
	case f_tanh: return 1 - y * y;
	case f_sigmoid: return y * (1 - y);
	case f_log1p: return 1.0f / (1 + x);
	case f_expm1: return y + 1;
	default: return sigmoid(x); // f_softplus
	}
}

DEVICE float binary(int f, float a, float b) {
	switch (f) {
	case f_add: return a + b;
	case f_sub: return a - b;
	case f_mul: return a * b;
	case f_div: return a / b;
	case f_pow: return pow(a, b);
	case f_lt: return a < b ? 1.0f : 0.0f;
	case f_gt: return a > b ? 1.0f : 0.0f;
	case f_lte: return a <= b ? 1.0f : 0.0f;
	case f_gte: return a >= b ? 1.0f : 0.0f;
	case f_eq: return a == b ? 1.0f : 0.0f;
	case f_ne: return a != b ? 1.0f : 0.0f;
	case f_maximum: return a > b || a != a ? a : b; // NaN if either is
	default: return a < b || a != a ? a : b;        // f_minimum
	}
}

// binary_derivative returns a function's derivative by operand side at (a, b), where its value is z.
DEVICE float binary_derivative(int f, int side, float a, float b, float z) {
	switch (f) {
	case f_add: return 1;
	case f_sub: return side == 0 ? 1.0f : -1.0f;
	case f_mul: return side == 0 ? b : a;
	case f_div: return side == 0 ? 1.0f / b : -z / b;
	case f_pow: return side == 0 ? b * pow(a, b - 1) : z * log(a);
	// Of equal operands the first has the gradient.
	case f_maximum: return (a >= b) == (side == 0) ? 1.0f : 0.0f;
	default: return (a <= b) == (side == 0) ? 1.0f : 0.0f; // f_minimum
	}
}

// known is a function's number that the compiler knows.
template <int f> struct known {
	DEVICE operator int() const { return f; }
};

// choose calls go with a function's number: a known one if it is among those listed, so that a loop within go doesn't
// choose the function for each element.
template <int... listed, class Go> DEVICE void choose(int f, const Go &go) {
	if (!((f == listed && (go(known<listed>()), true)) || ...))
		go(f);
}
