// Package durable makes renames of files last: call [SyncFolder] after one.
package durable
