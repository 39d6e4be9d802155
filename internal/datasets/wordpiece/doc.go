// Package wordpiece converts texts to the tokens of BERT's models. [Parse] reads a vocabulary, and
// [Vocabulary.Encode] makes a row of tokens from a text.
//
// The rules are the ones of bert-base-cased (Devlin, Chang, Lee and Toutanova: BERT, 2018; google-research/bert,
// tokenization.py), whose letters keep their case and their accents:
//
//   - Bytes that aren't UTF-8, U+FFFD, and the control, format, private and surrogate characters (Cc, Cf, Co, Cs)
//     are dropped; tab, line feed, carriage return and every space separate words.
//   - Each punctuation mark (all ASCII symbols, and Unicode's category P) and each CJK ideograph is a word of its own.
//   - A word becomes a list of pieces: the longest piece in the vocabulary that the word begins with, then the longest
//     piece marked "##" that the rest begins with, and so on. If at some position no piece fits, or if the word has
//     more than 100 characters, the whole word becomes [UNK].
//   - A row is [CLS], the pieces, [SEP], padded with [PAD]. Pieces that don't fit before [SEP] are cut off.
//
// A text can't contain a special token. "[SEP]" in a text is three words, as in BERT's own code, while Hugging Face's
// library would make it the token.
//
// # Why not a library
//
// The libraries get this wrong. github.com/gomlx/go-huggingface v0.4.0 applies the limit of 100 characters to bytes,
// keeps format characters (a soft hyphen in a word makes it [UNK]), matches special tokens in texts, takes time that is
// quadratic in a text's length, wants a tokenizer.json although BERT publishes a vocab.txt, and requires a
// machine-learning framework. Hugging Face's own library is Rust behind cgo. So the tests compare this package with
// that library's results, which testdata/README.md describes.
package wordpiece
