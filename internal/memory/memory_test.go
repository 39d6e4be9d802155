package memory

import (
	"testing"
	"testing/fstest"
)

func TestAvailable(t *testing.T) {
	const meminfo = "MemTotal:       8000 kB\nMemFree:        1000 kB\nMemAvailable:   4000 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  uint64
		ok    bool
	}{
		"nothing is known":  {nil, 0, false},
		"an old kernel":     {map[string]string{"proc/meminfo": "MemTotal: 8000 kB\n"}, 0, false},
		"no groups":         {map[string]string{"proc/meminfo": meminfo}, 4000 << 10, true},
		"no number of them": {map[string]string{"proc/meminfo": "MemAvailable: many kB\n"}, 0, false},
		"version 2, no limit": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/b/memory.current": "5\n",
		}, 4000 << 10, true},
		"version 2, limit": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "1000000\n", "sys/fs/cgroup/a/b/memory.current": "700000\n",
			"sys/fs/cgroup/a/b/memory.stat": "anon 550000\nactive_file 50000\ninactive_file 100000\n",
		}, 450000, true},
		"version 2, limit above": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/b/memory.current": "5\n",
			"sys/fs/cgroup/a/memory.max": "1000\n", "sys/fs/cgroup/a/memory.current": "400\n",
		}, 600, true},
		"a container, whose path isn't there": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/machine/x\n",
			"sys/fs/cgroup/memory.max": "1000\n", "sys/fs/cgroup/memory.current": "1200\n",
		}, 0, true},
		"version 1": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "3:cpuset:/x\n2:hugetlb,memory:/x\n0::/\n",
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": "2000\n", "sys/fs/cgroup/memory/x/memory.usage_in_bytes": "500\n",
			"sys/fs/cgroup/memory/x/memory.stat":         "inactive_file 1\ntotal_inactive_file 100\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n", "sys/fs/cgroup/memory/memory.usage_in_bytes": "500\n",
		}, 1600, true},
		"more than the machine has": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "99999999999\n", "sys/fs/cgroup/memory.current": "5\n",
		}, 4000 << 10, true},
	} {
		root := fstest.MapFS{}
		for file, text := range c.files {
			root[file] = &fstest.MapFile{Data: []byte(text)}
		}
		if got, ok := available(root); got != c.want || ok != c.ok {
			t.Errorf("%s: %d, %v; want %d, %v", name, got, ok, c.want, c.ok)
		}
	}
}

// This machine's answer is plausible: a running test has some memory, and no machine has an exabyte.
func TestAvailableHere(t *testing.T) {
	if got, ok := Available(); ok && (got < 1<<20 || got > 1<<60) {
		t.Errorf("%d bytes", got)
	}
}
