package renyi

// MaxOrder is the largest order that a curve may have.
const MaxOrder = 1024

// Orders are the integer orders Low to High, both included, 2 <= Low <= High <= MaxOrder.
type Orders struct {
	Low, High int
}
