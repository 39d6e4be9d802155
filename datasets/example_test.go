package datasets_test

import (
	"context"
	"fmt"
	"log"

	"github.com/dptrain/dptrain/datasets"
)

func ExampleOpen() {
	set, err := datasets.Open(context.Background(), "glyphs", datasets.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(set.Train.N, set.Test.N, set.Train.SampleShape, set.Train.Classes)
	// Output: 12000 2000 [1 28 28] 10
}
