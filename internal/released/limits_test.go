package released

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A model is a small regular file. Other files are refused before they are read. These sparse files take no space on
// the disk.
func TestReadIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		parameters, description int64
		want                    string
	}{
		"parameters":  {1 << 40, 0, "model.safetensors: 1099511627776 bytes; at most 8589934592 can be read"},
		"description": {10, 1 << 40, "model.json: 1099511627776 bytes; at most 268435456 can be read"},
	} {
		dir := t.TempDir()
		empty := "\x02\x00\x00\x00\x00\x00\x00\x00{}" // no tensors
		for file, size := range map[string]int64{parametersFile: c.parameters, modelFile: c.description} {
			path := filepath.Join(dir, file)
			if err := os.WriteFile(path, []byte(empty), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path, size); err != nil {
				t.Skip(err)
			}
		}
		if _, _, err := Read(dir); !errors.Is(err, ErrNoModel) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestReadWantsFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, parametersFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Read(dir); !errors.Is(err, ErrNoModel) || !strings.Contains(err.Error(), "model.safetensors: not a regular file") {
		t.Errorf("a folder: %v", err)
	}
	other := t.TempDir()
	if err := os.Symlink("/dev/zero", filepath.Join(other, parametersFile)); err != nil {
		t.Skip(err)
	}
	if _, _, err := Read(other); !errors.Is(err, ErrNoModel) || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a device: %v", err)
	}
}

// A file is read if twice its bytes are free, or if the system doesn't report free memory.
func TestReadChecksMemory(t *testing.T) {
	defer func(was func() (uint64, bool)) { available = was }(available)
	path := filepath.Join(t.TempDir(), parametersFile)
	if err := os.WriteFile(path, make([]byte, 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		free  uint64
		known bool
		want  string
	}{
		{2000, true, ""},
		{1999, true, "model.safetensors: reading it takes 2000 bytes of memory, and the machine has 1999 left"},
		{0, false, ""},
	} {
		available = func() (uint64, bool) { return c.free, c.known }
		got, err := readWhole(path, 1000)
		if c.want == "" && (err != nil || len(got) != 1000) || c.want != "" && (!errors.Is(err, ErrNoModel) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%d bytes free, %t: %d bytes, %v; want %q", c.free, c.known, len(got), err, c.want)
		}
	}
}
