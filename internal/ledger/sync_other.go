//go:build !unix

package ledger

// syncFolder does nothing: there a folder can't be opened to be synced.
func syncFolder(string) error { return nil }
