// Package durable replaces files so that a crash loses neither the old content nor the new: call [Replace], and then
// [SyncFolder].
package durable
