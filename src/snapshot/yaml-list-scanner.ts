import { StringDecoder } from 'node:string_decoder';
import { Field } from './field.ts';
import { InputError } from './input-error.ts';

/** Reads the documents of a text that begins at this line of the file, from 0; undefined = it is from several places. Throws InputError. */
export type LoadYaml = (text: string, firstLine: number | undefined) => readonly Field[];

/** What is not in an item is small; more than this is a list that is written in another way. */
const longestEnvelope = 1024 * 1024;
const tooLarge =
  'is too large to be read in one piece, and not written as kubectl writes YAML: JSON can be read, and faster (kubectl get -o json)';
const space = 0x20;
/** What a line says of the list. */
type Role = 'begins an item' | 'ends the list' | 'is inside';
const itemsLine = /^items:\s*$/;
const beginsItem = /-[ \r\n]/y;
const saysNothing = /[#\r\n]/y;

/**
 * Takes a List apart as kubectl writes it in YAML: `items:` at the beginning of a line, each item begun by a dash of the same indentation.
 * Nothing else in valid YAML stands so far to the left: text inside of an item is indented deeper. Throws InputError.
 */
export class YamlListScanner {
  readonly #file: string;
  readonly #load: LoadYaml;
  readonly #onItem: (item: Field) => void;
  readonly #decoder = new StringDecoder('utf8');
  #envelope = '';
  /** From the beginning of the item that has not ended, or of the line. */
  #text = '';
  #isInItems = false;
  /** Of the dashes; undefined = no item has come. */
  #indent: number | undefined;
  #hasItems = false;
  #count = 0;
  #lines = 0;
  #itemLine = 0;

  constructor(file: string, load: LoadYaml, onItem: (item: Field) => void) {
    this.#file = file;
    this.#load = load;
    this.#onItem = onItem;
  }

  push(chunk: Buffer): void {
    this.#read(this.#decoder.write(chunk));
  }

  /** The list without its items, once all of it was pushed. */
  finish(): Field {
    this.#read(`${this.#decoder.end()}\n`);
    this.#endItem(this.#text);
    const [list, second] = this.#load(this.#envelope, undefined);
    if (list === undefined) throw this.#wrong('is empty');
    if (second !== undefined) throw this.#wrong('has more than one document');
    return list;
  }

  #read(piece: string): void {
    let from = this.#text.lastIndexOf('\n') + 1;
    let begun = 0;
    const text = this.#text + piece;
    for (let end = text.indexOf('\n', from); end >= 0; end = text.indexOf('\n', from)) {
      const role = this.#isInItems ? this.#roleOf(text, from) : 'ends the list';
      if (role !== 'is inside') {
        this.#endItem(text.slice(begun, from));
        this.#isInItems = role === 'begins an item';
        begun = from;
      }
      from = end + 1;
      if (!this.#isInItems) {
        this.#readEnvelope(text.slice(begun, from));
        begun = from;
      }
      this.#lines += 1;
    }
    this.#text = text.slice(begun);
  }

  #roleOf(text: string, from: number): Role {
    let at = from;
    while (text.charCodeAt(at) === space) at += 1;
    const column = at - from;
    if (column > (this.#indent ?? column) || standsAt(saysNothing, text, at)) return 'is inside';
    const isDash = standsAt(beginsItem, text, at) && column === (this.#indent ?? column);
    if (!isDash) return 'ends the list';
    this.#indent = column;
    return 'begins an item';
  }

  #readEnvelope(line: string): void {
    this.#isInItems = !this.#hasItems && itemsLine.test(line);
    this.#hasItems ||= this.#isInItems;
    this.#envelope += this.#isInItems ? 'items: []\n' : line;
    if (this.#envelope.length > longestEnvelope) throw this.#wrong(tooLarge);
  }

  /** Before the first item there is nothing, or a comment. */
  #endItem(text: string): void {
    const line = this.#itemLine;
    this.#itemLine = this.#lines;
    if (!this.#isInItems || text === '') return;
    const [items] = this.#load(text, line);
    for (const item of items?.list() ?? []) {
      const path = `items[${this.#count}]`;
      this.#onItem(new Field(this.#file, path, copied(item.as(path).object())));
      this.#count += 1;
    }
  }

  #wrong(what: string): InputError {
    return new InputError(this.#file, '', what);
  }
}

/** Strings of a YAML value are parts of the text and would keep all of it. */
const copied = (value: object): unknown => JSON.parse(JSON.stringify(value));

function standsAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}
