package memory

import (
	"testing"
	"testing/fstest"
)

// Malformed system files make Available report neither too much memory nor too little.
func TestAvailableFromOddFiles(t *testing.T) {
	const group = "sys/fs/cgroup/"
	for name, c := range map[string]struct {
		files map[string]string
		want  uint64
		ok    bool
	}{
		"more than there can be":     {map[string]string{"proc/meminfo": "MemAvailable: 18446744073709551615 kB\n"}, 0, false},
		"a name that begins like it": {map[string]string{"proc/meminfo": "MemAvailable:Never 1 kB\nMemAvailable: 4 kB\n"}, 4096, true},
		"another controller": {map[string]string{
			"proc/self/cgroup": "1:name=memoryless:/x\n", group + "memory/x/memory.limit_in_bytes": "100", group + "memory/x/memory.usage_in_bytes": "0",
		}, 4096, true},
		"more cached than used": {map[string]string{
			"proc/self/cgroup": "0::/\n", group + "memory.max": "1000", group + "memory.current": "10", group + "memory.stat": "inactive_file 100\n",
		}, 1000, true},
		"use that is unknown": {map[string]string{"proc/self/cgroup": "0::/\n", group + "memory.max": "1000"}, 4096, true},
		"a colon in the path": {map[string]string{
			"proc/self/cgroup": "0::/a:b\n", group + "a:b/memory.max": "1000", group + "a:b/memory.current": "10",
		}, 990, true},
		"a path that leads out": {map[string]string{
			"proc/self/cgroup": "0::/../a\n", group + "a/memory.max": "1000", group + "a/memory.current": "10", "sys/fs/a/memory.max": "1", "sys/fs/a/memory.current": "1",
		}, 990, true},
	} {
		root := fstest.MapFS{"proc/meminfo": {Data: []byte("MemAvailable: 4 kB\n")}}
		for file, text := range c.files {
			root[file] = &fstest.MapFile{Data: []byte(text)}
		}
		if got, ok := available(root); got != c.want || ok != c.ok {
			t.Errorf("%s: %d, %v; want %d, %v", name, got, ok, c.want, c.ok)
		}
	}
}
