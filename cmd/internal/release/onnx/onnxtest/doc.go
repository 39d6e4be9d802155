// Package onnxtest opens files of ONNX like their readers: package onnx checks them in full, and ONNX Runtime computes
// their outputs. It is for tests. Both are in the environment that python/environment makes, without which tests skip.
package onnxtest
