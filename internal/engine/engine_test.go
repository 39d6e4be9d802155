package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
)

// named is an engine that lacks an operation, or fails, or loads.
type named struct {
	name  string
	lacks string
	err   error
}

func (n named) Name() string { return n.name }

func (n named) Load(*compile.Program, *Data) (Loaded, error) {
	if n.lacks != "" {
		return nil, &UnsupportedError{n.name, n.lacks, "not written"}
	}
	return loadedOn{name: n.name}, n.err
}

type loadedOn struct {
	Loaded
	name string
}

func (l loadedOn) Close() error { return errors.New("closed " + l.name) }

func TestFirstOf(t *testing.T) {
	broken := errors.New("no memory")
	poor, lost, good := named{name: "poor", lacks: "conv"}, named{name: "lost", err: broken}, named{name: "good"}
	for _, c := range []struct {
		engines []Engine
		on      string // the engine that loads the program
		passed  string
		err     string
	}{
		{[]Engine{good, poor}, "good", "", ""},
		{[]Engine{poor, good}, "good", "engine poor has no operation conv: not written", ""},
		{[]Engine{FirstOf(poor, poor), good}, "good", "engine poor has no operation conv: not written\nengine poor has no operation conv: not written", ""},
		{[]Engine{poor, poor}, "", "", "engine poor has no operation conv"},
		{[]Engine{lost, good}, "", "", "no memory"}, // a failure isn't a lack: another engine would hide it
		{[]Engine{poor, lost}, "", "", "no memory"},
		{nil, "", "", "there is no engine"},
	} {
		l, err := FirstOf(c.engines...).Load(nil, nil)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v: %v, want %q", c.engines, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", c.engines, err)
			continue
		}
		passed := ""
		if p := Passed(l); p != nil {
			passed = p.Error()
		}
		if got := l.Close().Error(); got != "closed "+c.on || passed != c.passed {
			t.Errorf("%v: %s, passed %q; want %s, %q", c.engines, got, passed, c.on, c.passed)
		}
	}
	if name := FirstOf(poor, good).Name(); name != "poor, else good" {
		t.Errorf("named %q", name)
	}
}

func TestRunErrors(t *testing.T) {
	one, two := errors.New("one"), errors.New("two")
	if err := (RunErrors{nil, nil}).Or(); err != nil {
		t.Errorf("no failure is %v", err)
	}
	err := RunErrors{nil, one, nil, two}.Or()
	if err == nil || err.Error() != "run 1: one; run 3: two" || !errors.Is(err, one) || !errors.Is(err, two) {
		t.Errorf("got %v", err)
	}
}
