// Package onnx writes released models as graphs of ONNX (https://onnx.ai), which many runtimes compute. Call [Export].
//
// A graph takes raw data and does all that docs/model-format.md asks of a reader: it fills in, clips and scales
// numbers, makes categories one-hot, normalises the bytes of images, leaves the padding out of texts' means, divides
// logits by the temperature, and converts numbers to the unit of the file. It has operators of the default domain in
// version 13 only, from 2021, and an open number of rows N:
//
//	input         type    shape
//	NAME          double  [N], [N shape…]     a column of numbers; NaN is a missing one
//	NAME          int64   [N]                 a column of categories: the position in its list
//	image         uint8   [N channels rows columns]
//	features      float   [N features]        of images
//	tokens        int64   [N tokens]          of texts; 0 is padding
//	x             float   [N sample shape…]   in place of columns or images: [Options.Encoded]
//
//	output        type    shape
//	class         int64   [N]                 the position of the class
//	probabilities float   [N classes]
//	logits        float   [N classes]
//	value         double  [N]                 of a regression, in the unit of the file
//
// An output with the name of a column gets the suffix "_output". Columns are double because single precision has too
// few digits for numbers such as times, and because NumPy's and pandas's are. A position that isn't in the list makes
// the runtime fail. NaN in a column without a value for missing ones makes the row's outputs NaN.
//
// The file is written by the definition of Protocol Buffers, field by field (wire.go). The tests check it with package
// onnx of Python and run it in ONNX Runtime (package onnxtest).
package onnx
