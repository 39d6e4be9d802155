package build

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
)

// Hash returns the SHA-256 of the file of this program. A run goes on with the same program alone: another one
// may draw or compute otherwise.
var Hash = sync.OnceValues(func() (string, error) {
	path := "/proc/self/exe" // which is this program even if its path has another one since
	if runtime.GOOS != "linux" {
		var err error
		if path, err = os.Executable(); err != nil {
			return "", err
		}
	}
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read the program: %w", err)
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", fmt.Errorf("read the program: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
})
