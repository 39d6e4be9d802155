// Package safetensors reads and writes named tensors of float32 and int64 in the format of that name
// (https://github.com/huggingface/safetensors#format), which holds numbers and no code:
//
//	8 bytes       the length of the header, little-endian
//	header        JSON: of each tensor its type, shape and where its bytes are; texts under "__metadata__"
//	the rest      the tensors' bytes, little-endian and row-major, without gaps
//
// Released models are written in it, and public weights are read from it.
package safetensors
