// Package durable replaces files so that a crash loses neither the old content nor the new: by [WriteFile], or by
// [Replace] and then [SyncFolder].
package durable
