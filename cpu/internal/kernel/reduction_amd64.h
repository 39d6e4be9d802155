// FOLD leaves in X0 the OP of the eight elements of Y0, by halves: the end of every reduction. It
// clobbers X1.
#define FOLD(OP) \
	VEXTRACTF128 $1, Y0, X1 \
	OP X1, X0, X0           \
	VPERMILPD $1, X0, X1    \
	OP X1, X0, X0           \
	VMOVSHDUP X0, X1        \
	OP X1, X0, X0
