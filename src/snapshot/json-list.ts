import { createReadStream } from 'node:fs';
import { getManyValues, none } from 'stream-chain/defs.js';
import { jsonParser, type Token } from 'stream-json/core/parser.js';
import { FlexAssembler } from 'stream-json/core/utils/flex-assembler.js';
import { errorLine, fileProblem } from '../runtime/errors.ts';
import { Field } from './field.ts';
import { InputError } from './input-error.ts';

/** The parser returns all tokens of a piece at once: larger pieces need more memory and save no time. */
const pieceBytes = 16 * 1024;

interface Receiver {
  readonly onItem: (item: Field) => void;
  /** Called after each piece. */
  readonly onPiece: () => void;
}

/** Reads a JSON list of any size: calls `onItem` for each of its `items`, and returns the list without them. Throws InputError. */
export async function readJsonList(file: string, { onItem, onPiece }: Receiver): Promise<Field> {
  const list = new JsonList(file, onItem);
  try {
    for await (const text of textOf(file)) {
      list.push(text);
      onPiece();
    }
    return list.end();
  } catch (err) {
    if (list.isBroken) await locateFault(file);
    throw err;
  }
}

/** Throws the InputError with the path of the fault. The parser has no position, so this parses again, slowly, in pieces that end at each bracket. */
async function locateFault(file: string): Promise<void> {
  const list = new JsonList(file, () => undefined);
  for await (const text of textOf(file)) {
    for (const piece of text.split(/(?<=[{}[\]])/)) list.push(piece);
  }
}

async function* textOf(file: string): AsyncGenerator<string> {
  const pieces = createReadStream(file, { highWaterMark: pieceBytes, encoding: 'utf8' });
  try {
    let isFirst = true;
    for await (const piece of pieces) {
      yield isFirst ? withoutMark(file, String(piece)) : String(piece);
      isFirst = false;
    }
  } catch (err) {
    throw err instanceof InputError ? err : new InputError(file, '', fileProblem(err));
  }
}

/** The beginning of a file without the byte order mark that Windows writes. Throws for UTF-16, which PowerShell's `>` writes. */
export function withoutMark(file: string, text: string): string {
  // As UTF-8, the two bytes of a mark of UTF-16 are invalid.
  if (text.startsWith('\uFFFD\uFFFD'))
    throw new InputError(
      file,
      '',
      "is UTF-16, as PowerShell's > writes it: write it as UTF-8 (Out-File -Encoding utf8)",
    );
  return text.replace(/^\uFEFF/, '');
}

/** Ends the text for the parser; the types of stream-json do not declare it. */
const endOfText = none as unknown as string;

/** A parser of a JSON list that calls `onItem` as soon as an item is complete. */
export class JsonList {
  readonly #file: string;
  readonly #parse = jsonParser({ streamValues: false });
  readonly #list: FlexAssembler<object>;
  #count = 0;
  #isEmpty = true;
  /** Whether the parser has refused a piece of text; where in the piece is not known. */
  isBroken = false;

  constructor(file: string, onItem: (item: Field) => void) {
    this.#file = file;
    const add = (_items: unknown, item: unknown): void => {
      onItem(new Field(file, `items[${this.#count}]`, copied(item)));
      this.#count += 1;
    };
    this.#list = new FlexAssembler({ arrayRules: [{ filter: isItems, create: () => [], add }] });
  }

  push(text: string): void {
    this.#isEmpty &&= text.trim() === '';
    this.#take(text, 'is not JSON');
  }

  /** The list without its items, once all of it was pushed. */
  end(): Field {
    if (this.#isEmpty) throw this.#wrong('is empty');
    this.#take(endOfText, 'is not JSON, or is cut off');
    // The parser refuses such a text too, but does not document it: half a list must never count as a list.
    if (!this.#list.done) throw this.#wrong('is cut off: the file ends too early');
    return new Field(this.#file, '', this.#list.current);
  }

  #take(text: string, fault: string): void {
    for (const token of this.#tokensOf(text, fault)) this.#list.consume(token);
  }

  #tokensOf(text: string, fault: string): readonly Token[] {
    try {
      const tokens = this.#parse(text);
      return tokens === none ? [] : getManyValues(tokens);
    } catch (err) {
      this.isBroken = true;
      throw this.#wrong(`${fault}: ${errorLine(err)}`);
    }
  }

  /** An error with the path of the current item, or of the list. */
  #wrong(what: string): InputError {
    const isInItems = this.#list.path[0] === 'items';
    return new InputError(this.#file, isInItems ? `items[${this.#count}]` : '', what);
  }
}

const isItems = (path: readonly (string | number)[]): boolean => path.length === 1 && path[0] === 'items';

/** Strings of the parser are slices of the file's text and would keep all of it in memory. */
const copied = (item: unknown): unknown => JSON.parse(JSON.stringify(item));
