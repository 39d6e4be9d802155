// Command vae is an example to copy: a variational autoencoder whose images get noise, and whose codes are drawn,
// within the graph (Kingma and Welling, "Auto-Encoding Variational Bayes", 2014).
package main
