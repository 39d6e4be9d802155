package pld

// testTail is the tail of the tests' grids.
const testTail = 0x1p-54

func by(step float64) Grid { return NewGrid(step, testTail) }
