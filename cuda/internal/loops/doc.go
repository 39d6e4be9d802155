// Command loops counts the instructions of the kernels' loops, by name, in what nvdisasm prints of their machine code:
//
//	loops SOURCES LISTING...
//
// SOURCES is the folder of the kernels' sources, and a LISTING is what nvdisasm -hex -gi prints of a module that was
// compiled with line information. cuda/kernels/build runs it and writes cuda/kernels/ptx/loops.txt, by which speed is
// judged where there is no card. TestLoops in package cuda bounds the counts.
//
// # Loops
//
// A loop is a natural one: there is a branch back to its first instruction, and no other way into it but through that
// instruction. A line of the output counts
//
//   - before the bar, the path: the fewest instructions that lead around the loop, those under a predicate included. It
//     branches over rare work, such as a wrap-around. Where each iteration chooses between ways, as in elementwise and
//     the poolings, it is the cheapest one, a lower bound that may leave out the work.
//   - after the bar, the loop: all of its instructions, without those of loops inside.
//   - how many loops are inside. The path enters none of them; if every way does, its counts are 0.
//
// An iteration of machine code may be several of the source: a product's multiply-adds tell how many.
//
//	all   instructions
//	FFMA  multiply-adds in single precision
//	LDG   loads from global memory; one of 16 bytes counts once
//	LDS   loads from shared memory
//	IMAD  integer multiply-adds, which the units of multiply-adds execute, moves and shifts by them included
//	RCP   reciprocals: a division of integers of 32 bits or of floats has one, if it isn't by a constant
//	CALL  calls of CUDA's own subroutines: 64-bit divisions, and rare cases of division and roots
//
// # Names
//
// All functions are inlined. The branch back comes from the line of the loop's statement, and line information says
// where the function around it was inlined, up to the kernel. Of these functions a name consists, without the lines'
// numbers, which any edit moves:
//
//	clipped_sums/walk/step_back/grad_conv/multiply[2]#3.1
//
// #3 is the third loop in multiply, by line, of all that some caller has. [2] is the second call of multiply in
// grad_conv, if several calls have loops. .1 is the first, by address, of several loops that the compiler made of the
// same statement, one unrolled and one for the rest, say. A function of CUDA's has the name of its file.
//
// # What is not printed
//
// nvdisasm 11.8 prints neither text nor label of VIMNMX, Hopper's minimum and maximum of integers, but its encoding.
// So branches are decoded from their encoding, which must agree with labels where they are printed.
package main
