// Package engines names the engines that a run can be trained on, and finds, opens and closes GPUs. [New] returns the
// engine of a run; [GPUs.Choose] chooses GPUs by settings, [Choice.Opening] opens them beside other work, and
// [Choice.Using] closes them after it.
package engines
