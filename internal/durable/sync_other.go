//go:build !unix

package durable

// SyncFolder does nothing: there a folder can't be opened to be synced.
func SyncFolder(string) error { return nil }
