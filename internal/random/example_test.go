package random_test

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/random"
)

func ExampleKey_Stream() {
	key := random.InsecureKey(1) // call random.NewKey for privacy

	// The noise of trial 3 at step 1000 is the same whenever it is drawn.
	noise := make([]float64, 4)
	key.Stream(random.ID{Purpose: random.Noise, Trial: 3, Step: 1000}).Normals(noise)
	fmt.Printf("%.3f\n", noise)

	// Draw its second half alone: each normal takes one word of the stream.
	s := key.Stream(random.ID{Purpose: random.Noise, Trial: 3, Step: 1000})
	s.Seek(2)
	s.Normals(noise[:2])
	fmt.Printf("%.3f\n", noise[:2])
	// Output:
	// [-1.011 -0.534 0.667 -0.317]
	// [0.667 -0.317]
}
