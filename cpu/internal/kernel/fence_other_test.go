//go:build !linux

package kernel

import "testing"

func newArena(testing.TB) *arena { return &arena{memory: make([]float32, arenaSize)} }
