package show

import "testing"

func TestPrintable(t *testing.T) {
	if got := Printable("a\u202eb\x1b[31m\xffü"); got != "a b [31m\uFFFDü" {
		t.Errorf("%q", got)
	}
}

func TestQuoted(t *testing.T) {
	for word, want := range map[string]string{
		"0.1": "0.1", "privacy.repetitions_shape=2": "privacy.repetitions_shape=2", "": "''", "[0.1, 1]": "'[0.1, 1]'",
		"it's": `'it'\''s'`, "$HOME": "'$HOME'", "a;b": "'a;b'", "~/x": "'~/x'", "a\nb": "'a\nb'", "ü": "'ü'",
	} {
		if got := Quoted(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}
