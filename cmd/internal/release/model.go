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

// Notated is the version of a [Model] whose files may write numbers otherwise than plainly.
const Notated = released.Notated

// The tasks of a [Model].
const (
	Classification = released.Classification
	Regression     = released.Regression
)
