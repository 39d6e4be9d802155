// Command regression is an example to copy: regression with a graph of your own, AdamW, a learning rate that warms up
// and falls, and an average of models.
package main
