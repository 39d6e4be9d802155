// Command tuning is an example to copy: private tuning of a model of your own by a metric of your own: the least recall
// of a class, one of which is rare.
package main
