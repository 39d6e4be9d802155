// Package pld computes with privacy-loss distributions.
package pld
