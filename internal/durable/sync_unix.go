//go:build unix

package durable

import (
	"errors"
	"os"
	"syscall"
)

// SyncFolder makes a rename in a folder durable. File systems that can't sync a folder return EINVAL or ENOTSUP.
func SyncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = folder.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, folder.Close())
}
