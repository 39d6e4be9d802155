package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/long"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The golden page was read in man when it was last rewritten (go test -update).
func TestPage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "help.txt"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := parseHelp(string(text))
	if err != nil {
		t.Fatal(err)
	}
	got := page([]string{"dptrain", "example"}, "show every form", h, example)
	golden := filepath.Join("testdata", "page.1")
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestParseHelpRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  `want a part that begins with the line "Usage:"`,
		"Text only.\n":                      `want a part that begins with the line "Usage:"`,
		"Usage:\n  x\n\nAliases:\n  y\n":    "Aliases: no page has a place for it",
		"Usage:\n  x\n\nFlags:\n  y z\n":    `line 5: "  y z" is neither a command nor a flag`,
		"Usage:\n  x\n\nFlags:\n      -x\n": "neither a command nor a flag",
		"Usage:\n  x\n\nAvailable Commands:\n  Y  z\n": "neither a command nor a flag",
	} {
		if _, err := parseHelp(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// macros are all that a page may call.
var macros = regexp.MustCompile(`^\.(TH|SH|PP|TP|RS|RE|nf|fi|br|nh|ad)( |$)`)

// No text, whatever it has, becomes a macro or an escape of roff.
func FuzzPage(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("testdata", "help.txt"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add(".so /etc/passwd\n'br\n\\fB\n \n\t.x\n\nUsage:\n  .\\x\n\nExamples:\n.a\n")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := parseHelp(text)
		if err != nil {
			return
		}
		written := string(page([]string{"dptrain"}, text, h, example))
		for line := range strings.Lines(written) {
			line = strings.TrimSuffix(line, "\n")
			if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !macros.MatchString(line) {
				t.Errorf("a macro: %q", line)
			}
			for _, after := range strings.Split(line, `\`)[1:] {
				if !slices.ContainsFunc([]string{"e", "-", "&", "(aq", "(dq", "(ga", "(ha", "(ti", "fB", "fI", "fR"}, func(s string) bool { return strings.HasPrefix(after, s) }) {
					t.Errorf("an escape: %q", line)
				}
			}
		}
	})
}

// Each command of the real program has a page with all of its flags.
func TestManualOfTheCommand(t *testing.T) {
	long.Only(t) // it builds the command
	t.Chdir("..")
	binary := filepath.Join(t.TempDir(), platform{runtime.GOOS, ""}.program())
	// As tests are built, so that only the linker has work to do.
	if out, err := exec.Command("go", "build", "-o", binary, "-ldflags", example.linked(), "./cmd/dptrain").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if printed, err := (command{binary}).output("version"); err != nil || !strings.HasPrefix(printed, "dptrain v1.2.3, commit "+commit+", go") {
		t.Errorf("version prints %q, %v", printed, err)
	}
	pages, err := manual(command{binary}, example)
	if err != nil {
		t.Fatal(err)
	}
	text := map[string]string{}
	for _, p := range pages {
		text[p.name] = string(p.content)
	}
	for name, want := range map[string][]string{
		"man/man1/dptrain.1":              {`\fBtune\fR`, `.SH "EXIT STATUS"`, `\fB130\fR`, `\fBdptrain\-account\fR(1)`},
		"man/man1/dptrain-tune.1":         {`\fB\-\-epsilon\fR \fIfloat\fR`, `\fB\-\-warm\-start\fR[=true]`, ".SH EXAMPLES", ".TH DPTRAIN\\-TUNE 1 2026\\-11\\-23"},
		"man/man1/dptrain-account-eval.1": {`\fBdptrain\-account\fR(1)`},
	} {
		for _, w := range want {
			if !strings.Contains(text[name], w) {
				t.Errorf("%s lacks %q", name, w)
			}
		}
	}
	flags := regexp.MustCompile(`(?m)^ +(?:-., )?--([a-z-]+)`)
	for _, c := range []string{"tune", "train", "plan", "predict"} {
		help, err := command{binary}.output(c, "--help")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range flags.FindAllStringSubmatch(help, -1) {
			if w := strings.ReplaceAll("--"+m[1], "-", `\-`) + `\fR`; !strings.Contains(text["man/man1/dptrain-"+c+".1"], w) {
				t.Errorf("the page of %s lacks --%s", c, m[1])
			}
		}
	}
}
