import { open, type FileHandle } from 'node:fs/promises';
import type { JsonObject } from './pick.ts';

/** A List as `kubectl get -o json` prints it, written page by page, one object per line. */
export class ListFile {
  readonly #file: FileHandle;
  #count = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Creates or overwrites the file. */
  static async begin(path: string): Promise<ListFile> {
    const list = new ListFile(await open(path, 'w', 0o600));
    await list.#write('{"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":""},"items":[');
    return list;
  }

  /** The number of objects so far. */
  get count(): number {
    return this.#count;
  }

  async add(objects: readonly JsonObject[]): Promise<void> {
    const lines = objects.map(
      (object, i) => `${this.#count + i === 0 ? '' : ','}\n${JSON.stringify(object)}`,
    );
    this.#count += objects.length;
    await this.#write(lines.join(''));
  }

  /** Completes the list, with these additional fields. */
  async end(fields: JsonObject = {}): Promise<void> {
    const more = Object.entries(fields).map(
      ([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`,
    );
    await this.#write(`\n]${more.join('')}}\n`);
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #write(text: string): Promise<void> {
    await this.#file.writeFile(text);
  }
}
