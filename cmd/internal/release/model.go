package release

import "github.com/dptrain/dptrain/internal/released"

// The description of a released model: see package released, which reads it back.
type (
	Model      = released.Model
	Image      = released.Image
	Activation = released.Activation
)

// ErrNoModel reports that there is no released model to read.
var ErrNoModel = released.ErrNoModel

// The tasks of a [Model].
const (
	Classification = released.Classification
	Regression     = released.Regression
)
