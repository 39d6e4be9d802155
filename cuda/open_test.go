package cuda

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/cuda/internal/walk"
)

// machine is a driver whose devices do nothing but be opened and closed.
type machine struct {
	infos  []Info
	fault  error // of Devices
	broken int   // the device that can't be opened; -1 for none
	text   bool  // it takes no machine code
	open   *[]int
	ptx    *[]string
}

func (m machine) Devices() ([]Info, error) { return m.infos, m.fault }

func (m machine) Open(i int, ptx ...[]byte) (driver.Device, error) {
	if i == m.broken {
		return nil, errors.New("it is burnt")
	}
	if m.text && isCode(string(ptx[0])) {
		return nil, errors.New("it takes text")
	}
	*m.ptx = nil
	for _, text := range ptx {
		*m.ptx = append(*m.ptx, string(text))
	}
	*m.open = append(*m.open, i)
	return opened{info: m.infos[i], number: i, machine: m}, nil
}

type opened struct {
	driver.Device
	info    Info
	number  int
	machine machine
}

func (d opened) Info() Info { return d.info }

func (d opened) Close() error {
	k := slices.Index(*d.machine.open, d.number)
	if k < 0 {
		return errors.New("it isn't open")
	}
	*d.machine.open = slices.Delete(*d.machine.open, k, k+1)
	return nil
}

func machineOf(broken int, infos ...Info) machine {
	return machine{infos: infos, broken: broken, open: new([]int), ptx: new([]string)}
}

func isCode(image string) bool { return strings.HasPrefix(image, "\x7fELF") }

// Devices get machine code if there is some for them and their driver takes it, and else PTX. An engine's arithmetic is
// the same.
func TestMachineCode(t *testing.T) {
	for _, c := range []struct{ major, minor, code int }{ // 0 for none
		{7, 0, 0}, {7, 5, 75}, {8, 0, 80}, {8, 6, 80}, {8, 9, 80}, {9, 0, 90}, {10, 0, 100}, {10, 3, 100}, {11, 0, 0},
		{12, 0, 120}, {12, 1, 120}, {13, 0, 0},
	} {
		var names []string
		for _, text := range []bool{false, true} {
			m := machineOf(-1, Info{Name: "A", Major: c.major, Minor: c.minor})
			m.text = text
			e, err := openAll(m, Options{})
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, e.arithmetic)
			for _, image := range *m.ptx {
				if isCode(image) != (c.code > 0 && !text) {
					t.Errorf("%d.%d, text %v: an image begins with %q", c.major, c.minor, text, image[:8])
				}
				// The flags of the ELF header say what the code is for: their low byte, or, since CUDA 12.8, the next.
				if isCode(image) && int(image[48]) != c.code && int(image[49]) != c.code {
					t.Errorf("%d.%d gets machine code for %d or %d", c.major, c.minor, image[48], image[49])
				}
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
		if names[0] != names[1] {
			t.Errorf("%d.%d: arithmetic is %q by machine code and %q by PTX", c.major, c.minor, names[0], names[1])
		}
	}
}

// Engines open the devices that they are asked for, with all kernels, and name them.
func TestOpen(t *testing.T) {
	infos := []Info{{Name: "A", Major: 9}, {Name: "B", Major: 7, Minor: 5}, {Name: "C", Major: 9}, {Name: "D", Major: 9, Minor: 1}}
	arithmetic := map[string]string{}
	for _, c := range []struct {
		asked []int
		open  []int
		name  string
		has   string
	}{
		{nil, []int{0, 2}, "cuda (A, C)", "compute capability 9.0"},
		{[]int{1}, []int{1}, "cuda (B)", "compute capability 7.5"},
		{[]int{3}, []int{3}, "cuda (D)", "compute capability 9.1"},
		{[]int{2}, []int{2}, "cuda (C)", "compute capability 9.0"},
	} {
		m := machineOf(-1, infos...)
		e, err := openAll(m, Options{Devices: c.asked})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(*m.open, c.open) || e.Name() != c.name || !strings.Contains(e.arithmetic, c.has) {
			t.Errorf("of %v open are %v, %s, %s", c.asked, *m.open, e.Name(), e.arithmetic)
		}
		if other, ok := arithmetic[c.has]; ok && other != e.arithmetic {
			t.Errorf("the same kernels on like devices are %q and %q", other, e.arithmetic)
		}
		arithmetic[c.has] = e.arithmetic
		for _, kernel := range []string{"draw_minibatches", "clipped_sums", "release_and_update", "predict"} {
			if !slices.ContainsFunc(*m.ptx, func(text string) bool {
				return strings.Contains(text, ".entry "+kernel+"(") || strings.Contains(text, ".text."+kernel)
			}) {
				t.Errorf("devices are opened without %s", kernel)
			}
		}
		if e.warn("nobody listens"); e.threads%walk.WarpSize != 0 || e.threads < walk.WarpSize {
			t.Errorf("blocks of %d threads", e.threads)
		}
		if err := e.Close(); err != nil || len(*m.open) > 0 {
			t.Errorf("after Close open are %v, %v", *m.open, err)
		}
	}
	fault := errors.New("the driver is older than the kernel's module")
	for what, c := range map[string]struct {
		m    machine
		says string
	}{
		"the only one can't be opened": {machineOf(0, infos[0]), "it is burnt"},
		"none":                         {machineOf(-1), "the driver sees none"},
		"a driver that doesn't work":   {machine{fault: fault}, fault.Error()},
		"too old":                      {machineOf(-1, Info{Name: "A", Major: 6, Minor: 2}), "needs 7.0"},
	} {
		_, err := openAll(c.m, Options{})
		if !errors.Is(err, ErrNoDevice) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", what, err)
		}
		if c.m.open != nil && len(*c.m.open) > 0 {
			t.Errorf("%s: %v stay open", what, *c.m.open)
		}
	}

	// One of all is left out; one that was asked for is missed.
	m, warned := machineOf(2, infos...), ""
	e, err := openAll(m, Options{Warn: func(text string) { warned = text }})
	if err != nil || e.Name() != "cuda (A)" || !strings.Contains(warned, "it is burnt") {
		t.Errorf("with one that can't be opened: %v, warned of %q", err, warned)
	}
	m = machineOf(2, infos...)
	if _, err := openAll(m, Options{Devices: []int{0, 2}}); err == nil || errors.Is(err, ErrNoDevice) || !strings.Contains(err.Error(), "it is burnt") || len(*m.open) > 0 {
		t.Errorf("asked for one that can't be opened: %v, open stay %v", err, *m.open)
	}
}
