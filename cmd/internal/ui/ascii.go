package ui

import (
	"io"
	"strings"
	"unicode/utf8"
)

// asciiWriter replaces characters beyond ASCII: R² becomes R2. A character may be cut by two calls of Write.
type asciiWriter struct {
	to  io.Writer
	cut []byte // beginning of a character
}

// Write returns the length of p unless the underlying writer fails.
func (a *asciiWriter) Write(p []byte) (int, error) {
	text := append(a.cut, p...)
	whole := len(text)
	for start := whole - 1; start >= max(0, whole-utf8.UTFMax); start-- {
		if utf8.RuneStart(text[start]) {
			if !utf8.FullRune(text[start:]) {
				whole = start
			}
			break
		}
	}
	a.cut = append([]byte(nil), text[whole:]...)
	if _, err := io.WriteString(a.to, ascii(string(text[:whole]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// spelt has the ASCII spelling of the characters in our own output, and of a few in names of columns.
var spelt = map[rune]string{
	'α': "alpha", 'β': "beta", 'γ': "gamma", 'δ': "delta", 'ε': "epsilon", 'η': "eta", 'θ': "theta", 'μ': "mu", 'σ': "sigma", 'Σ': "sum",
	'–': "-", '—': "-", '−': "-", '×': "x", '·': ".", '⁄': "/", '√': "sqrt", '∞': "inf", '≤': "<=", '≥': ">=", '→': "->", '←': "<-",
	'‘': "'", '’': "'", '“': `"`, '”': `"`, '…': "...", '\u00a0': " ",
	'ä': "ae", 'ö': "oe", 'ü': "ue", 'ß': "ss", 'é': "e", 'è': "e", 'á': "a", 'à': "a", 'í': "i", 'ó': "o", 'ú': "u", 'ñ': "n", 'ç': "c",
	'█': "#", '░': "-", '⁻': "-",
	'⁰': "0", '¹': "1", '²': "2", '³': "3", '⁴': "4", '⁵': "5", '⁶': "6", '⁷': "7", '⁸': "8", '⁹': "9",
}

// ascii spells text in ASCII, with question marks for unknown characters.
func ascii(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch spelling, known := spelt[r]; {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case known:
			b.WriteString(spelling)
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}
