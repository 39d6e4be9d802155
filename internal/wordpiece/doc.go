// Package wordpiece splits texts into the pieces of words that BERT's models read, and numbers them by a
// vocabulary. [Parse] reads a vocabulary and [Vocabulary.Encode] makes one row of numbers from a text.
//
// The rules are those of bert-base-cased (Devlin, Chang, Lee and Toutanova: BERT, 2018; google-research/bert,
// tokenization.py), whose letters keep their case and their accents:
//
//   - Bytes that aren't UTF-8, U+FFFD, and the control, format, private and surrogate characters (Cc, Cf, Co, Cs)
//     are dropped; tab, line feed, carriage return and every space separate words.
//   - Each punctuation mark (all ASCII symbols, and Unicode's category P) and each CJK ideograph is a word of its own.
//   - A word becomes the longest piece in the vocabulary that it begins with, then the longest that goes on with
//     "##", and so on. If nothing fits, or the word has more than 100 characters, all of it is [UNK].
//   - A row is [CLS], the pieces, [SEP]; what doesn't fit is cut off before [SEP], and the rest of a row is [PAD].
//
// A text can't name a special token: "[SEP]" in it is three words, as in BERT's own code. (Hugging Face's
// library would make it the token.)
//
// # Why not a library
//
// The ones there are get this wrong. github.com/gomlx/go-huggingface v0.4.0 counts the 100 characters in bytes, keeps
// format characters (a soft hyphen in a word makes it [UNK]), matches special tokens in texts, takes
// time that grows with the square of a text's length, wants a tokenizer.json where BERT publishes a
// vocab.txt, and brings a machine-learning framework into the module graph. Hugging Face's own library is Rust behind
// cgo. The tests hold this package to that library's results instead, which testdata/README.md describes.
package wordpiece
