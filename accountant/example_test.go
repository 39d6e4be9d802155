package accountant_test

import (
	"fmt"

	"github.com/dptrain/dptrain/accountant"
)

// What does it cost to tune by 15 expected trials on a tenth of the data and to train on the rest?
func Example() {
	train := accountant.DPSGD(0.0213, 2, 1878)
	plan := accountant.Variant1(0.1, accountant.Poisson{Mean: 15}, train)
	for _, mode := range []accountant.Mode{accountant.Paper, accountant.Best} {
		g, err := accountant.Epsilon(plan, 1e-5, accountant.Options{Mode: mode})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: epsilon %.2f\n", g.Mode, g.Epsilon)
	}
	// Output:
	// paper: epsilon 3.86
	// best: epsilon 2.11
}

func ExampleCalibrateNoise() {
	noise, err := accountant.CalibrateNoise(2, 1e-5, accountant.Options{}, func(noise float64) accountant.Event {
		return accountant.Variant1(0.1, accountant.Poisson{Mean: 15}, accountant.DPSGD(0.0213, noise, 1878))
	})
	fmt.Printf("%.4f %v\n", noise, err)
	// Output: 2.0551 <nil>
}
