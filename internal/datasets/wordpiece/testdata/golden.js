// Writes golden.jsonl: texts and what Hugging Face's tokenizers make of them. README.md says how to run it.
const { Tokenizer } = require('@anush008/tokenizers')
const fs = require('fs')

const lines = fs.readFileSync('vocab.txt', 'utf8').trimEnd().split('\n')
const vocab = Object.fromEntries(lines.map((piece, id) => [piece, id]))
fs.writeFileSync('/tmp/tokenizer.json', JSON.stringify({
  version: '1.0', truncation: null, padding: null, added_tokens: [],
  normalizer: { type: 'BertNormalizer', clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: false },
  pre_tokenizer: { type: 'BertPreTokenizer' }, post_processor: null, decoder: null,
  model: { type: 'WordPiece', unk_token: '[UNK]', continuing_subword_prefix: '##', max_input_chars_per_word: 100, vocab },
}))

const texts = [
  '', ' ', '\t\n\r', 'unwanted running', 'unwantedX running', 'unaffable', 'ah博推zz', ' \tHéLLo!how  \n Are yoU? ',
  "don't", "the film's 2nd…", '<br /><br />The film—naïve!', 'a\u0301b', '\u00e9\u0065\u0301', 'a\u00adb', 'a\u200bb', '\ufeffthe', 'a\u0000b', 'a\ufffdb',
  'a\u00a0b', 'a\u3000b', 'a\u2028b', 'a\u2029b', 'a\u0085b', 'a\u000bb', 'a\u001fb', 'a\ue000b', '々', 'あい', '한글', '\ud840\udc00a', '\u{1f600}', 'a\u{1f600}b',
  '[CLS] [SEP] [PAD] [UNK] [MASK]', '##ing', '#ing', '$5', 'x^2', '`a~', 'a_b', 'é\u0000é', 'a'.repeat(100), 'a'.repeat(101), 'é'.repeat(100), 'é'.repeat(101),
  'a'.repeat(101) + '!' + 'b', 'a\u00ad'.repeat(100), 'a\u00ad'.repeat(101), 'a'.repeat(500) + ' the', '«a»', '€', '²', 'a²', 'ß', 'aß', 'İ', 'ﬁlm',
]
const parts = ['a', 'b', 'un', 'want', 'ed', 'ing', 'film', 'the', 'é', 'e\u0301', '博', '推', '々', 'あ', 'い', '한글', ' ', ' ', ' ', '\t', '\n', '\u00a0', '\u3000',
  '\u00ad', '\u200b', '\u0000', '\ufffd', '\u0096', '.', ',', '!', "'", '-', '—', '…', '[', ']', '#', '##', '[CLS]', '\u{1f600}', 'ß', '9', 'Z', '²', '€', 'lowest', 'unaff']
let seed = 1 // Park and Miller's generator
const draw = n => (seed = seed * 48271 % 2147483647) % n
for (let i = 0; i < 400; i++) {
  let text = ''
  for (let n = draw(20); n >= 0; n--) text += parts[draw(parts.length)]
  texts.push(text)
}
async function main() {
  const tokenizer = Tokenizer.fromFile('/tmp/tokenizer.json')
  let out = ''
  for (const text of texts) {
    const ids = (await tokenizer.encode(text, null, { addSpecialTokens: false })).getIds()
    out += JSON.stringify({ text, ids: [...ids] }) + '\n'
  }
  fs.writeFileSync('golden.jsonl', out)
}
main()
