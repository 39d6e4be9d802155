// Package cuda is the place of the engine for NVIDIA GPUs. It holds nothing yet.
package cuda
