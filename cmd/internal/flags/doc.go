// Package flags makes settings of a command line. [Settings] are the flags that an experiment is resolved from, by
// [Settings.Resolve]; [Store], [Curve] and [Keep] are flags of a run's folder, its learning curve and its states.
// [Error] adds to the errors of the flag parser what may help.
package flags
