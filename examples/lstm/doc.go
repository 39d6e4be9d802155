// Command lstm is an example to copy: a recurrent network over padded texts. Is a review of a film good or bad?
package main
