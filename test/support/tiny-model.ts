// An embedding model small enough to make in a test: each word has a random direction, a text is the mean of its words.
// It is an ONNX file with a tokenizer, in the form transformers.js reads, so everything except the weights is real.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomFrom } from './seeded.ts';

const dimensions = 64;
const special = ['[PAD]', '[UNK]', '[CLS]', '[SEP]'];
const seed = 7;

/**
 * Writes config.json, tokenizer.json, tokenizer_config.json and onnx/model.onnx into `folder`. All words outside
 * `words` are the same.
 */
export function writeTinyModel(folder: string, words: readonly string[]): void {
  const vocabulary = [...special, ...new Set(words)];
  mkdirSync(join(folder, 'onnx'), { recursive: true });
  const write = (name: string, value: object): void => writeFileSync(join(folder, name), JSON.stringify(value));
  write('config.json', {
    model_type: 'bert',
    architectures: ['BertModel'],
    hidden_size: dimensions,
    vocab_size: vocabulary.length,
  });
  write('tokenizer_config.json', {
    tokenizer_class: 'BertTokenizer',
    model_max_length: 128,
    pad_token: '[PAD]',
    unk_token: '[UNK]',
    cls_token: '[CLS]',
    sep_token: '[SEP]',
    do_lower_case: true,
  });
  write('tokenizer.json', {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: special.map((content, id) => ({
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: null,
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(vocabulary.map((word, id) => [word, id])),
    },
  });
  writeFileSync(join(folder, 'onnx', 'model.onnx'), gatherModel(vocabulary.length));
}

/** last_hidden_state = table[input_ids]. Field numbers are those of onnx.proto. */
function gatherModel(rows: number): Uint8Array {
  const random = randomFrom(seed);
  const table = Float32Array.from({ length: rows * dimensions }, (_, index) =>
    index < dimensions ? 0 : random.next() * 2 - 1,
  );
  const tensor = message(
    packed(1, [rows, dimensions]),
    number(2, 1),
    text(8, 'table'),
    bytes(9, new Uint8Array(table.buffer)),
  );
  const node = message(text(1, 'table'), text(1, 'input_ids'), text(2, 'last_hidden_state'), text(4, 'Gather'));
  const shape = (...names: string[]): Uint8Array => message(...names.map((name) => bytes(1, message(text(2, name)))));
  const value = (name: string, type: number, dims: Uint8Array): Uint8Array =>
    message(text(1, name), bytes(2, message(bytes(1, message(number(1, type), bytes(2, dims))))));
  const inputs = ['input_ids', 'attention_mask', 'token_type_ids'].map((name) =>
    bytes(11, value(name, 7, shape('batch', 'sequence'))),
  );
  const graph = message(
    bytes(1, node),
    text(2, 'tiny'),
    bytes(5, tensor),
    ...inputs,
    bytes(12, value('last_hidden_state', 1, shape('batch', 'sequence', 'hidden'))),
  );
  return message(number(1, 8), bytes(7, graph), bytes(8, message(text(1, ''), number(2, 13))));
}

function varint(value: number): Uint8Array {
  const out: number[] = [];
  for (let left = value; ; left = Math.floor(left / 128)) {
    if (left < 128) return Uint8Array.from([...out, left]);
    out.push((left % 128) + 128);
  }
}

const message = (...fields: readonly Uint8Array[]): Uint8Array => Buffer.concat(fields);
const number = (field: number, value: number): Uint8Array => Buffer.concat([varint(field * 8), varint(value)]);
const bytes = (field: number, value: Uint8Array): Uint8Array =>
  Buffer.concat([varint(field * 8 + 2), varint(value.length), value]);
const text = (field: number, value: string): Uint8Array => bytes(field, Buffer.from(value));
const packed = (field: number, values: readonly number[]): Uint8Array =>
  bytes(field, Buffer.concat(values.map(varint)));
