package ui

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// LC_ALL overrides LC_CTYPE, and LC_CTYPE overrides LANG; without any the locale is C.
func TestLocales(t *testing.T) {
	for _, c := range []struct {
		all, ctype, lang, system string
		want                     bool
	}{
		{"", "", "", "linux", false},
		{"", "", "", "windows", true},
		{"", "", "en_US.UTF-8", "linux", true},
		{"", "", "C.utf8", "linux", true},
		{"", "", "C", "linux", false},
		{"", "", "POSIX", "windows", false},
		{"", "", "de_DE.ISO-8859-1", "linux", false},
		{"", "C", "en_US.UTF-8", "linux", false},
		{"C", "en_US.UTF-8", "en_US.UTF-8", "linux", false},
		{"en_US.UTF-8", "C", "C", "linux", true},
		{"", "de_DE.UTF-8", "C", "linux", true},
	} {
		environment := map[string]string{"LC_ALL": c.all, "LC_CTYPE": c.ctype, "LANG": c.lang}
		if got := unicodeLocale(c.system, func(name string) string { return environment[name] }); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

// A file gets lines of any length in UTF-8, for any terminal.
func TestAFileIsNoTerminal(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s := ScreenOf(file, func(string) string { return "dumb" })
	if s.Terminal || s.ASCII || s.Width() != 0 || s.Writer(file) != file {
		t.Errorf("%+v of width %d", s, s.Width())
	}
}

func TestASCII(t *testing.T) {
	for text, want := range map[string]string{
		"R² is 0.5\n":               "R2 is 0.5\n",
		"ε = 4, δ = 10⁻⁵":           "epsilon = 4, delta = 10-5",
		"Rényi, Müller–Lüdenscheid": "Renyi, Mueller-Luedenscheid",
		"want column=…":             "want column=...",
		"50 % ██░░":                 "50 % ##--",
		"“猫”":                       `"?"`,
		"plain\t~":                  "plain\t~",
	} {
		var out bytes.Buffer
		if _, err := (Screen{ASCII: true}).Writer(&out).Write([]byte(text)); err != nil || out.String() != want {
			t.Errorf("%q: %q, %v, want %q", text, out.String(), err, want)
		}
	}
}

// For any cuts of a text the same ASCII is written, and every byte counts as written.
func TestASCIIInPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab \nεé²…█猫\U0001F600"))).Draw(t, "text")
		var whole, pieces bytes.Buffer
		w := (Screen{ASCII: true}).Writer(&whole)
		_, _ = w.Write([]byte(text))
		w = (Screen{ASCII: true}).Writer(&pieces)
		for rest := []byte(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			if written, err := w.Write(rest[:n]); written != n || err != nil {
				t.Fatalf("%d of %d bytes, %v", written, n, err)
			}
			rest = rest[n:]
		}
		if whole.String() != pieces.String() {
			t.Fatalf("%q whole, %q in pieces", whole.String(), pieces.String())
		}
		if strings.IndexFunc(whole.String(), func(r rune) bool { return r > '~' }) >= 0 {
			t.Fatalf("%q isn't ASCII", whole.String())
		}
	})
}

// Bytes that aren't UTF-8 don't wait for the rest of a character.
func TestASCIIOfNoText(t *testing.T) {
	var out bytes.Buffer
	w := (Screen{ASCII: true}).Writer(&out)
	for _, part := range []string{"a\xff", "\xffb", "\xe2\x80", "c"} {
		_, _ = w.Write([]byte(part))
	}
	if got := out.String(); !strings.HasPrefix(got, "a?") || !strings.HasSuffix(got, "c") || strings.ContainsRune(got, '\uFFFD') {
		t.Errorf("%q", got)
	}
}
