import { Unknown } from '../gen/meta.ts';
import { PartialBytes } from './partial-bytes.ts';

/** The server broke the wire format. Nothing after this point of the stream can be trusted. */
export class MalformedError extends Error {
  override readonly name = 'MalformedError';
}

const magic = Buffer.from('k8s\0');
export const magicBytes = magic.length;

export function isProtobuf(body: Uint8Array): boolean {
  return magic.every((byte, i) => body[i] === byte);
}

export function unwrap(body: Uint8Array): Unknown {
  if (!isProtobuf(body)) throw new MalformedError('no protobuf envelope');
  return Unknown.decode(body.subarray(magic.length));
}

/** Far above etcd's limit for one object (1.5 MiB), far below the memory limits of the components. */
const maxFrameBytes = 64 * 1024 * 1024;
const headerBytes = 4;
const openBrace = 0x7b;
const newline = 0x0a;
const nothing: Buffer = Buffer.alloc(0);

/** Cuts a watch stream into frames, wherever the chunks end: protobuf by length prefix, JSON by line. The first byte shows which of both it is. */
export class FrameSplitter {
  /** The unread part of the last chunk or of `#partial`. The caller may use frames of it until the next chunk. */
  #rest = nothing;
  readonly #partial = new PartialBytes();
  #json: boolean | undefined;

  /** Returns the frames that `chunk` completes. They share its memory: decode them before the next chunk. */
  push(chunk: Buffer): readonly Buffer[] {
    let bytes = this.#rest.length === 0 ? chunk : this.#joined(chunk);
    this.#json ??= bytes.length === 0 ? undefined : bytes[0] === openBrace;
    const frames: Buffer[] = [];
    for (let frame = this.#next(bytes); frame !== undefined; frame = this.#next(bytes)) {
      bytes = bytes.subarray(frame.end);
      if (frame.body.length > 0) frames.push(frame.body);
    }
    if (bytes.length > maxFrameBytes) throw new MalformedError('watch frame is longer than 64 MiB');
    this.#rest = bytes.length === 0 ? nothing : bytes;
    return frames;
  }

  #joined(chunk: Buffer): Buffer {
    this.#partial.clear();
    this.#partial.add(this.#rest, 0, this.#rest.length);
    this.#partial.add(chunk, 0, chunk.length);
    return this.#partial.bytes;
  }

  #next(bytes: Buffer): { readonly body: Buffer; readonly end: number } | undefined {
    return this.#json === true ? nextLine(bytes) : nextPrefixed(bytes);
  }
}

function nextLine(bytes: Buffer): { readonly body: Buffer; readonly end: number } | undefined {
  const end = bytes.indexOf(newline);
  return end < 0 ? undefined : { body: bytes.subarray(0, end), end: end + 1 };
}

function nextPrefixed(bytes: Buffer): { readonly body: Buffer; readonly end: number } | undefined {
  if (bytes.length < headerBytes) return undefined;
  const length = bytes.readUInt32BE(0);
  if (length > maxFrameBytes) throw new MalformedError(`watch frame of ${length} bytes`);
  const end = headerBytes + length;
  return bytes.length < end ? undefined : { body: bytes.subarray(headerBytes, end), end };
}
