// Command lowrank is an example to copy: a network of public images is fitted to private ones by updates of low rank
// (Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models", 2021).
package main
