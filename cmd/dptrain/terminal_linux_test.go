package main

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// onTerminal runs dptrain on a terminal of the given width and returns what the terminal gets.
func onTerminal(t *testing.T, columns uint16, env []string, args ...string) string {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminal to try: %v", err)
	}
	defer master.Close()
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 25, Col: columns})
	}
	if err != nil {
		t.Skipf("no terminal to try: %v", err)
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminal to try: %v", err)
	}
	cmd := exec.Command("dptrain", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), slave, slave
	cmd.Env = append(os.Environ(), append([]string{"TERM=xterm", "CUDA_VISIBLE_DEVICES=-1"}, env...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	out, _ := io.ReadAll(master) // it ends with an error, once no process has the terminal
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %v\n%s", args, err, out)
	}
	return strings.ReplaceAll(string(out), "\r\n", "\n")
}

// A terminal gets whole words in lines that fit. A pipe gets one line for each row, which scripts read.
func TestTerminals(t *testing.T) {
	args := []string{"tune", "--dry-run", "--accounting", "paper", "--store", t.TempDir()}
	piped := output(t, args...)
	for _, c := range []struct {
		columns uint16
		env     string
		bound   string
	}{
		{200, "", "bound    Rényi: variant 1, tuning with Poisson repetitions, Poisson-sampled Gaussian mechanism (paper accounting)\n"},
		{80, "", "bound    Rényi: variant 1, tuning with Poisson repetitions, Poisson-sampled\n         Gaussian mechanism (paper accounting)\n"},
		{80, "TERM=dumb", "bound    Rényi: variant 1,"},
		{0, "", "bound    Rényi: variant 1, tuning with Poisson repetitions, Poisson-sampled Gaussian mechanism (paper accounting)\n"},
	} {
		got := onTerminal(t, c.columns, []string{c.env}, args...)
		if !strings.Contains(got, c.bound) {
			t.Errorf("%d columns, %s: no %q in\n%s", c.columns, c.env, c.bound, got)
		}
		if a, b := strings.Fields(piped), strings.Fields(got); strings.Join(a, " ") != strings.Join(b, " ") {
			t.Errorf("%d columns, %s: other words than for a pipe:\n%s", c.columns, c.env, got)
		}
	}
	if strings.Count(piped, "\n") != 11 {
		t.Errorf("a pipe gets\n%s", piped)
	}
}

// The progress of a run is one line that is overwritten, however narrow the terminal is, and lines on a dumb one.
func TestProgressOnTerminals(t *testing.T) {
	args := []string{"train", "--model", "mlp:64", "--accounting", "paper", "--epochs", "1", "--insecure-seed", "1"}
	got := onTerminal(t, 40, nil, args...)
	drawn := strings.Split(got, "\r\x1b[K")
	if len(drawn) < 2 {
		t.Fatalf("no progress in %q", got)
	}
	for _, line := range drawn[1 : len(drawn)-1] {
		if len([]rune(line)) >= 40 && !strings.Contains(line, "\n") {
			t.Errorf("%q has %d columns", line, len([]rune(line)))
		}
	}
	if got := onTerminal(t, 40, []string{"TERM=dumb"}, args...); strings.ContainsAny(got, "\r\x1b") {
		t.Errorf("a dumb terminal gets %q", got)
	}
}
