package wordpiece

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// maxWord is the maximum number of characters of a known word.
const maxWord = 100

// MinLength is the length of the shortest row: [CLS] and [SEP].
const MinLength = 2

// Encode fills row with [CLS], a text's tokens, [SEP] and padding, and returns the number of tokens before the padding.
// It stops reading the text when the row is full. It panics if the row is shorter than [MinLength].
func (v *Vocabulary) Encode(row []int32, text []byte) int {
	if len(row) < MinLength {
		panic(fmt.Sprintf("wordpiece: a row of %d, want at least %d", len(row), MinLength))
	}
	row[0] = v.cls
	e := encoder{Vocabulary: v, row: row[:len(row)-1], n: 1}
	e.encode(text)
	row[e.n] = v.sep
	clear(row[e.n+1:])
	return e.n + 1
}

// encoder writes the pieces of one text.
type encoder struct {
	*Vocabulary
	row  []int32
	n    int    // pieces in row
	word []byte // characters since the last border, at most maxWord+1
	runs int    // characters in word
}

func (e *encoder) full() bool { return e.n == len(e.row) }

func (e *encoder) encode(text []byte) {
	for len(text) > 0 && !e.full() {
		r, size := utf8.DecodeRune(text) // each byte that isn't UTF-8 is U+FFFD
		text = text[size:]
		switch {
		case isSpace(r):
			e.endWord()
		case isDropped(r):
		case isPunctuation(r), isIdeograph(r):
			e.endWord()
			e.extend(r)
			e.endWord()
		default:
			e.extend(r)
		}
	}
	e.endWord()
}

func (e *encoder) extend(r rune) {
	if e.runs <= maxWord {
		e.word = utf8.AppendRune(e.word, r)
		e.runs++
	}
}

// endWord adds the pieces of the word and begins the next.
func (e *encoder) endWord() {
	word, start := e.word, e.n
	unknown := e.runs > maxWord
	e.word, e.runs = e.word[:0], 0
	for in := e.first; len(word) > 0 && !unknown; in = e.later {
		id, size := e.longestPiece(in, word)
		if size == 0 {
			unknown = true
			break
		}
		e.add(id)
		word = word[size:]
	}
	if unknown {
		e.n = start
		e.add(e.unk)
	}
}

// add appends a piece unless the row is full.
func (e *encoder) add(id int32) {
	if !e.full() {
		e.row[e.n] = id
		e.n++
	}
}

// longestPiece returns the longest of the pieces that the word begins with, and its size in bytes, or 0 if there is
// none.
func (v *Vocabulary) longestPiece(in map[string]int32, word []byte) (id int32, size int) {
	for size = min(len(word), v.longest); size > 0; size-- {
		// Pieces consist of whole characters, so none ends within a character.
		if id, ok := in[string(word[:size])]; ok {
			return id, size
		}
	}
	return 0, 0
}

func isSpace(r rune) bool {
	switch r {
	case ' ', '\t', '\n', '\r', '\u2028', '\u2029':
		return true
	}
	return r >= utf8.RuneSelf && unicode.Is(unicode.Zs, r)
}

func isDropped(r rune) bool {
	return r == 0 || r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs)
}

func isPunctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return '!' <= r && r <= '/' || ':' <= r && r <= '@' || '[' <= r && r <= '`' || '{' <= r && r <= '~'
	}
	return unicode.IsPunct(r)
}

// isIdeograph reports whether r is in one of the blocks of CJK ideographs that BERT lists, which exclude Kana and
// Hangul.
func isIdeograph(r rune) bool {
	switch {
	case r < 0x3400:
		return false
	case r <= 0x4dbf, // extension A
		0x4e00 <= r && r <= 0x9fff,
		0xf900 <= r && r <= 0xfaff,   // compatibility
		0x20000 <= r && r <= 0x2a6df, // extension B
		0x2a700 <= r && r <= 0x2b73f, // C
		0x2b740 <= r && r <= 0x2b81f, // D
		0x2b820 <= r && r <= 0x2ceaf, // E
		0x2f800 <= r && r <= 0x2fa1f: // compatibility, supplement
		return true
	}
	return false
}
