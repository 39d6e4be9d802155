package build

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
)

// The linker of release/build sets these. A commit that ends with dirty has uncommitted changes.
var version, commit string

const dirty = "-dirty"

// Unknown is the version of a build without a version, such as a test.
const Unknown = "(devel)"

// Info names a build. Two builds of the same commit have the same Info.
type Info struct {
	Program  string `json:"program"`
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`   // hexadecimal: whole, or the 12 digits of a pseudo-version
	Modified bool   `json:"modified,omitempty"` // the sources differed from the commit
}

// String returns the build in words, without a period.
func (i Info) String() string {
	text := i.Program + " " + i.Version
	if i.Commit != "" {
		text += ", commit " + i.Commit
	}
	if i.Modified {
		text += " with changes"
	}
	return text
}

// Current returns the running program's build.
var Current = sync.OnceValue(func() Info {
	info, _ := debug.ReadBuildInfo()
	return of(info, version, commit)
})

// pseudo matches a version that the go command makes of a commit: a time and 12 digits of the hash.
var pseudo = regexp.MustCompile(`[-.][0-9]{14}-([0-9a-f]{12})(\+|$)`)

// of returns the build with the linker's version and commit, if set, or else with the values in info, which may be nil.
func of(info *debug.BuildInfo, version, commit string) Info {
	out := Info{Program: "dptrain", Version: Unknown, Commit: commit}
	if info != nil && info.Main.Version != "" {
		out.Version = info.Main.Version
	}
	if info != nil {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				out.Commit = s.Value
			case "vcs.modified":
				out.Modified = s.Value == "true"
			}
		}
	}
	if version != "" {
		out.Version = version
	}
	if commit != "" { // rather than that of a checkout around the build
		out.Commit, out.Modified = strings.CutSuffix(commit, dirty)
	}
	if found := pseudo.FindStringSubmatch(out.Version); found != nil && out.Commit == "" {
		out.Commit = found[1]
	}
	return out
}

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
