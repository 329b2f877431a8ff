import { createReadStream } from 'node:fs';
import { isObject } from '../api/json.ts';
import { JsonItems } from '../kube/codec/json-items.ts';
import { errorLine, fileProblem } from '../runtime/errors.ts';
import { Field } from './field.ts';
import { InputError } from './input-error.ts';
import { refusePage } from './whole-list.ts';

interface Receiver {
  readonly onItem: (item: Field) => void;
  readonly onPiece: () => void;
}

/** Reads a JSON list of any size: calls `onItem` for each of its `items`, and returns the list without them. Throws InputError. */
export async function readJsonList(file: string, { onItem, onPiece }: Receiver): Promise<Field> {
  const list = new JsonList(file, onItem);
  for await (const piece of piecesOf(file)) {
    list.push(piece);
    onPiece();
  }
  const rest = list.end();
  refusePage(rest);
  return rest;
}

async function* piecesOf(file: string): AsyncGenerator<Buffer> {
  try {
    let isFirst = true;
    for await (const chunk of createReadStream(file)) {
      const piece = Buffer.from(chunk as Uint8Array);
      yield isFirst ? withoutMark(file, piece) : piece;
      isFirst = false;
    }
  } catch (err) {
    throw err instanceof InputError ? err : new InputError(file, '', fileProblem(err));
  }
}

/** The beginning of a file without the byte order mark that Windows writes. Throws for UTF-16, which PowerShell's `>` writes. */
export function withoutMark(file: string, bytes: Buffer): Buffer {
  const [first = 0, second = 0] = bytes;
  if (first + second === 0xff + 0xfe && first >= 0xfe)
    throw new InputError(
      file,
      '',
      "is UTF-16, as PowerShell's > writes it: write it as UTF-8 (Out-File -Encoding utf8)",
    );
  return bytes.subarray(0, 3).toString('latin1') === '\u00ef\u00bb\u00bf' ? bytes.subarray(3) : bytes;
}

/** A parser of a JSON list that calls `onItem` as soon as an item is complete. */
export class JsonList {
  readonly #file: string;
  readonly #items: JsonItems;
  #count = 0;

  constructor(file: string, onItem: (item: Field) => void) {
    this.#file = file;
    this.#items = new JsonItems('items', (json) => {
      const path = `items[${this.#count}]`;
      onItem(new Field(file, path, this.#parsed(json, path, 'is not JSON')));
      this.#count += 1;
    });
  }

  push(piece: Buffer): void {
    this.#items.push(piece);
  }

  /** The list without its items, once all of it was pushed. */
  end(): Field {
    const { rest, isInItem } = this.#items;
    if (rest.toString().trim() === '') throw new InputError(this.#file, '', 'is empty');
    const path = isInItem ? `items[${this.#count}]` : '';
    const list = this.#parsed(rest, path, 'is not JSON, or is cut off');
    return new Field(this.#file, '', this.#withoutItems(list));
  }

  #withoutItems(list: unknown): unknown {
    if (!isObject(list) || !Array.isArray(list['items'])) return list;
    const index = list['items'].findIndex((item: unknown) => !isObject(item));
    if (index >= 0) throw new Field(this.#file, `items[${index}]`, list['items'][index]).mustBe('an object');
    return { ...list, items: [] };
  }

  #parsed(json: Buffer, path: string, fault: string): unknown {
    try {
      return JSON.parse(json.toString());
    } catch (err) {
      throw new InputError(this.#file, path, `${fault}: ${errorLine(err)}`);
    }
  }
}
