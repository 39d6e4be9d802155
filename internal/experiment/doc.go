// Package experiment carries out experiments: [Resolve] makes a [Plan] of settings, [Plan.Load] reads its data,
// [Plan.Run] trains, and [Plan.Write] fills a run's folder with the outcome. [Plan.Statement] says what the plan
// guarantees before anything is read.
package experiment
