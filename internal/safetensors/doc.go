// Package safetensors reads and writes named tensors of float32 and int64 in the format of that name
// (https://github.com/huggingface/safetensors#format), which holds numbers and no code. Call [Encode] to write released
// models, [Decode] to read public weights, and [Seal] and [Unseal] for files that only this module reads. A file is
//
//	8 bytes       the length of the header, little-endian
//	header        JSON: each tensor's type, shape and byte range; texts under "__metadata__"
//	the rest      the tensors' bytes, little-endian and row-major, without gaps
package safetensors
