// Package onnxtest reads a file of ONNX by itself and computes its graph, slowly and in plain loops. Call [Read] and
// [Model.Run]. It is for tests: it shares no code with what writes such files, and knows the operators by their
// definitions (https://onnx.ai/onnx/operators), in the default domain's version 13. What a file must not do is an
// error: a name that is used before it is made, operands of different types, results of other shapes than declared.
package onnxtest
