// Package given has the type of samples whose holder gives up their memory for good, so that package train keeps it
// instead of a copy. Call [Away] to give columns away.
//
// Train derives a run's noise from a hash of its data. Data that change after they were hashed can cancel the noise, so
// train copies what callers outside this module pass to it. They can't import this package.
package given
