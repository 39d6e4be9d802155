package memory

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
)

// Available returns the number of bytes that can be allocated before the machine, or the control group of the process,
// runs out of memory. ok is false if the system doesn't report it, as on all systems but Linux.
func Available() (bytes uint64, ok bool) { return available(os.DirFS("/")) }

// available reads Linux's files below root. A missing file limits nothing.
func available(root fs.FS) (uint64, bool) {
	free, ok := field(root, "proc/meminfo", "MemAvailable:")
	if !ok || free > 1<<53 {
		return 0, false
	}
	free <<= 10 // in units of 1024 bytes
	text, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		// A line is hierarchy:controllers:path; version 2 names no controllers.
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		names, mount := version2, "sys/fs/cgroup"
		switch {
		case parts[1] == "":
		case strings.Contains(","+parts[1]+",", ",memory,"):
			names, mount = version1, "sys/fs/cgroup/memory"
		default:
			continue
		}
		// Every parent group limits too, up to the mount itself: a container often sees the path of another mount.
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			if left, ok := names.left(root, path.Join(mount, group)); ok {
				free = min(free, left)
			}
			if group == "/" {
				break
			}
		}
	}
	return free, true
}

// files is the names of the files in one version of control groups.
type files struct{ limit, usage, active, inactive string }

var (
	version1 = files{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_active_file", "total_inactive_file"}
	version2 = files{"memory.max", "memory.current", "active_file", "inactive_file"}
)

// left returns the number of bytes below a group's limit. Cached files count as usage, but the system drops them when
// it must.
func (f files) left(root fs.FS, group string) (uint64, bool) {
	limit, limited := number(root, path.Join(group, f.limit))
	usage, known := number(root, path.Join(group, f.usage))
	if !limited || !known {
		return 0, false
	}
	for _, name := range []string{f.active, f.inactive} {
		cached, _ := field(root, path.Join(group, "memory.stat"), name)
		usage -= min(usage, cached)
	}
	return limit - min(limit, usage), true
}

// number reads a file that holds one whole number. It returns false for the word max, which means no limit.
func number(root fs.FS, name string) (uint64, bool) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	v, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return v, err == nil
}

// field reads the number after key at the beginning of a line.
func field(root fs.FS, name, key string) (uint64, bool) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) >= 2 && words[0] == key {
			v, err := strconv.ParseUint(words[1], 10, 64)
			return v, err == nil
		}
	}
	return 0, false
}
