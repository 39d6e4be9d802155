// Package released has the two files of a released model, model.json and model.safetensors, which docs/model-format.md
// describes. [Model.Files] returns them, [Read] reads them back, and [Model.Values] makes of the tensors what the graph
// of the model takes.
package released
