// Code generated from run.cuh and draw.cu by go test ./cuda/internal/kernel -update. DO NOT EDIT.

package kernel

const (
	ClockFrom    = 0
	ClockEnd     = 1
	ClockDone    = 2
	ClockColumns = 3
)

const (
	SettingFine      = 0
	SettingCoarse    = 1
	SettingDeviation = 2
	SettingDivisor   = 3
	SettingRate      = 4
	SettingBeta1     = 5
	SettingBeta2     = 6
	SettingEpsilon   = 7
	SettingClip      = 8
	SettingStability = 9
	SettingColumns   = 10
)

const (
	IdentityKey     = 0
	IdentityTrial   = 8
	IdentityAdam    = 9
	IdentityShift   = 10
	IdentityCounts  = 11
	IdentityBelow   = 12
	IdentityColumns = 268
)

const (
	ListFrom    = 0
	ListCount   = 1
	ListColumns = 2
)

const (
	DrawThreads = 256
)
