// A driver without a GPU, for tests. It has the functions of the driver interface that are used, under their names,
// keeps memory in memory, and knows three kernels. Tests observe it through the same functions.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { invalid = 1, out_of_memory = 2, no_image = 200, not_found = 500 };

static int context; // its address is the handle
static __thread void *current;
static int retained;

int cuInit(unsigned flags) { return flags == 0 ? 0 : invalid; }
int cuDriverGetVersion(int *v) { return *v = 12040, 0; }
int cuGetErrorName(int e, const char **s) { return *s = e == out_of_memory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_FAKE", 0; }
int cuGetErrorString(int e, const char **s) { return e == not_found ? invalid : (*s = e == out_of_memory ? "out of memory" : "a fake error", 0); }
int cuDeviceGetCount(int *n) { return *n = 2, 0; }
int cuDeviceGet(int *d, int i) { return i < 0 || i > 1 ? invalid : (*d = 70 + i, 0); }
int cuDeviceGetName(char *s, int n, int d) { return strncpy(s, d == 70 ? "Fake One" : "Fake Two", n), 0; }
int cuDeviceTotalMem_v2(size_t *n, int d) { return *n = (size_t)(d - 69) << 30, 0; }
int cuDeviceGetAttribute(int *v, int a, int d) {
	*v = a == 16 ? 132 : a == 75 ? 9 : a == 76 ? d - 70 : -1;
	return *v < 0 ? invalid : 0;
}
// What isn't released is noticed soon.
int cuDevicePrimaryCtxRetain(void **c, int d) { return retained == 8 ? out_of_memory : (*c = &context, retained++, 0); }
int cuDevicePrimaryCtxRelease_v2(int d) { return retained-- > 0 ? 0 : invalid; }
int cuCtxSetCurrent(void *c) { return current = c, 0; }

static int ready(void) { return current == &context && retained > 0; }

int cuCtxSynchronize(void) { return ready() ? 0 : invalid; }
int cuModuleLoadDataEx(void **m, const char *image, unsigned n, int *options, void **values) {
	if (!ready())
		return invalid;
	if (strncmp(image, ".version", 8) != 0) {
		for (unsigned i = 0; i < n; i++)
			if (options[i] == 5)
				strcpy(values[i], "line 1; fatal: not PTX");
		return no_image;
	}
	*m = strdup(image);
	return 0;
}
int cuModuleUnload(void *m) { return free(m), ready() ? 0 : invalid; }

static void add(void **p, unsigned blocks, unsigned threads) {
	float *to = *(float **)p[0];
	int n = *(int *)p[1];
	double by = *(double *)p[2];
	for (int i = 0; i < n && i < (int)(blocks * threads); i++)
		to[i] += (float)by;
}

// What add_structs takes: a number, a struct as large as any, and another one.
struct where {
	float *to;
	int n, unused;
	double zeros[13];
};
struct by {
	double x;
	int64_t times;
};
static void add_structs(void **p, unsigned blocks, unsigned threads) {
	struct where w = *(struct where *)p[1];
	struct by b = *(struct by *)p[2];
	for (int i = 0; i < w.n && i < (int)(blocks * threads); i++)
		w.to[i] += *(int *)p[0] + (float)(b.x * b.times + w.zeros[12]);
}
static void nothing(void **p, unsigned blocks, unsigned threads) {}

int cuModuleGetFunction(void **f, void *m, const char *name) {
	if (strstr(m, name) == 0)
		return not_found;
	*f = strcmp(name, "add") == 0           ? (void *)add
	     : strcmp(name, "add_structs") == 0 ? (void *)add_structs
	     : strcmp(name, "nothing") == 0     ? (void *)nothing
	                                        : 0;
	return *f ? 0 : not_found;
}
int cuMemAlloc_v2(uint64_t *p, size_t n) {
	if (!ready())
		return invalid;
	if (n > (size_t)1 << 30)
		return out_of_memory;
	return *p = (uint64_t)malloc(n), 0;
}
int cuMemFree_v2(uint64_t p) { return free((void *)p), ready() ? 0 : invalid; }
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t n) { return ready() ? memcpy((void *)to, from, n), 0 : invalid; }
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n) { return ready() ? memcpy(to, (void *)from, n), 0 : invalid; }
int cuMemsetD8_v2(uint64_t p, unsigned char v, size_t n) { return ready() ? memset((void *)p, v, n), 0 : invalid; }
int cuLaunchKernel(void (*f)(void **, unsigned, unsigned), unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
	unsigned bz, unsigned shared, void *stream, void **params, void **extra) {
	if (!ready() || gx == 0 || bx == 0 || bx > 1024 || gy * gz * by * bz != 1 || shared || stream || extra)
		return invalid;
	return f(params, gx, bx), 0;
}
