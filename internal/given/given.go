package given

import "github.com/dptrain/dptrain/internal/engine"

// Columns are columns whose memory never changes again.
type Columns struct {
	columns []engine.Column
}

// Away returns columns as given away. The caller guarantees that neither it nor any other holder of their memory writes
// to it from now on.
func Away(columns ...engine.Column) Columns { return Columns{columns} }

// Take returns the columns. The caller may keep them, and must not write to them.
func (c Columns) Take() []engine.Column { return c.columns }
