package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// platform is a system and a processor, as Go names them.
type platform struct{ goos, goarch string }

func (p platform) String() string { return p.goos + "/" + p.goarch }

// program is the command's file name.
func (p platform) program() string {
	if p.goos == "windows" {
		return "dptrain.exe"
	}
	return "dptrain"
}

// suffix is that of an archive's name.
func (p platform) suffix() string {
	if p.goos == "windows" {
		return ".zip"
	}
	return ".tar.gz"
}

// environment returns the environment of go commands for the platform. It sets everything that changes what they build,
// so that the settings of this machine don't.
func (p platform) environment() []string {
	return append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.goos, "GOARCH="+p.goarch, "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=", "GOEXPERIMENT=", "GODEBUG=", "GOFIPS140=off", "GOWORK=off")
}

const ours = "github.com/dptrain/dptrain"

// compile builds the command. Without cgo it can be built for each platform on any of them; -trimpath leaves out this
// machine's folders; the commit is given by hand, since the go command finds it in some kinds of checkouts only.
func compile(src source, p platform, to string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", to, "-ldflags", "-s -w "+src.linked(), "./cmd/dptrain")
	cmd.Env, cmd.Stderr = p.environment(), os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	return nil
}

// linked returns the linker's flags that give the command its version and commit.
func (s source) linked() string {
	commit := s.commit
	if s.dirty {
		commit += "-dirty"
	}
	return fmt.Sprintf("-X %[1]s/internal/build.version=%[2]s -X %[1]s/internal/build.commit=%[3]s", ours, s.version, commit)
}

// command is a built dptrain.
type command struct{ path string }

// output returns what the command prints.
func (c command) output(args ...string) (string, error) {
	out, err := exec.Command(c.path, args...).Output()
	if err != nil {
		return "", fmt.Errorf("dptrain %s: %w", strings.Join(args, " "), err)
	}
	return string(out), nil
}
