import { dirname } from 'node:path';

/** One entry of an archive; parent folders are added automatically. */
export type TarEntry =
  | { readonly path: string; readonly data: Buffer; readonly mode?: number }
  | { readonly path: string; readonly link: string }
  | { readonly path: string; readonly folder: true; readonly mode: number };

const block = 512;

/** A tar archive (ustar, times 0, owner root) in pieces: the same entries give the same bytes. */
export function tar(entries: readonly TarEntry[]): readonly Buffer[] {
  const pieces: Buffer[] = [];
  const seen = new Set<string>();
  const add = (entry: TarEntry): void => {
    if (seen.has(entry.path)) return;
    for (const parent of parentsOf(entry.path)) add({ path: parent, folder: true, mode: 0o755 });
    seen.add(entry.path);
    pieces.push(...piecesOf(entry));
  };
  for (const entry of entries) add({ ...entry, path: entry.path.replace(/^\/+/, '') });
  return [...pieces, Buffer.alloc(2 * block)];
}

function parentsOf(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === '.' ? [] : [...parentsOf(parent), parent];
}

function piecesOf(entry: TarEntry): readonly Buffer[] {
  if ('folder' in entry) return [header(`${entry.path}/`, { type: '5', mode: entry.mode })];
  if ('link' in entry) return [header(entry.path, { type: '2', mode: 0o777, link: entry.link })];
  const { path, data, mode = 0o644 } = entry;
  const padding = Buffer.alloc((block - (data.length % block)) % block);
  return [header(path, { type: '0', mode, size: data.length }), data, padding];
}

interface Fields {
  readonly type: string;
  readonly mode: number;
  readonly size?: number;
  readonly link?: string;
}

function header(path: string, { type, mode, size = 0, link = '' }: Fields): Buffer {
  const bytes = Buffer.alloc(block);
  const { name, prefix } = splitName(path);
  const octal = (value: number, at: number, width: number): void => {
    bytes.write(value.toString(8).padStart(width - 1, '0'), at);
  };
  bytes.write(name, 0, 100);
  octal(mode, 100, 8);
  octal(0, 108, 8); // owner and group
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12); // time
  bytes.fill(' ', 148, 156); // the checksum counts itself as spaces
  bytes.write(type, 156);
  bytes.write(link, 157, 100);
  bytes.write('ustar\u000000', 257);
  bytes.write(prefix, 345, 155);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\u0000 `, 148);
  return bytes;
}

function splitName(path: string): { readonly name: string; readonly prefix: string } {
  if (path.length <= 100) return { name: path, prefix: '' };
  const cut = path.lastIndexOf('/', 155);
  const [prefix, name] = [path.slice(0, cut), path.slice(cut + 1)];
  if (cut < 1 || name.length > 100) throw new Error(`too long for this archive: ${path}`);
  return { name, prefix };
}
