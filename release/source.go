package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// source is the commit that archives are made of.
type source struct {
	version string    // v1.2.3, or what the go command makes of a commit
	commit  string    // 40 hexadecimal digits
	dirty   bool      // the sources have changes that the commit doesn't have
	time    time.Time // of the commit, UTC
}

// semantic matches a semantic version with its v, as the go command wants it.
var semantic = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z]+([.-][0-9A-Za-z]+)*)?$`)

// readSource reads the commit of the working directory. Changes that aren't committed are an error, since others
// couldn't make the same archives, unless dirty is set.
func readSource(version string, dirty bool) (source, error) {
	if version != "" && !semantic.MatchString(version) {
		return source{}, fmt.Errorf("version %q isn't a semantic version such as v1.2.3 or v1.2.3-rc.1", version)
	}
	switch within, err := git("rev-parse", "--show-prefix"); {
	case err != nil:
		return source{}, fmt.Errorf("%w; archives are made from a git checkout", err)
	case within != "":
		return source{}, fmt.Errorf("this is the folder %s of another git checkout; archives are made from a checkout of their own", within)
	}
	head, err := git("log", "-1", "--format=%H %ct")
	if err != nil {
		return source{}, err
	}
	s, err := parseHead(head)
	if err != nil {
		return source{}, err
	}
	s.version = version
	if version == "" {
		s.version = s.pseudoVersion()
	}
	changes, err := git("status", "--porcelain")
	if err != nil {
		return source{}, err
	}
	switch {
	case changes == "":
	case dirty:
		s.dirty = true
		s.version += "+dirty"
	default:
		return source{}, fmt.Errorf("%s: changes that aren't committed; commit them, or give --dirty", strings.TrimSpace(strings.SplitN(changes, "\n", 2)[0]))
	}
	return s, nil
}

// parseHead reads "COMMIT SECONDS".
func parseHead(head string) (source, error) {
	commit, seconds, _ := strings.Cut(head, " ")
	at, err := strconv.ParseInt(seconds, 10, 64)
	if len(commit) < 12 || err != nil {
		return source{}, fmt.Errorf("git log: want a commit and its time, got %q", head)
	}
	return source{commit: commit, time: time.Unix(at, 0).UTC()}, nil
}

// pseudoVersion is the go command's version for a commit without a tag before it.
func (s source) pseudoVersion() string {
	return fmt.Sprintf("v0.0.0-%s-%s", s.time.Format("20060102150405"), s.commit[:12])
}

func git(args ...string) (string, error) {
	out, err := exec.Command("git", args...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimRight(string(out), "\n"), nil
}
