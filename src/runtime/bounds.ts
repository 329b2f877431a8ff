import { createHash } from 'node:crypto';

/**
 * Limits of texts and lists that others write, in bytes of UTF-8 unless noted.
 *
 * The API server validates names, UIDs of objects, labels and finalizers. It does not validate owner references, image references, status texts
 * and the length of lists, up to etcd's 1.5 MiB per object. Each limit is far above the values of a working cluster: larger values are not real
 * and must only do no harm.
 */
export const bounds = {
  /** Any text. An image reference has at most 900 bytes (name, tag and SHA-512 digest). */
  text: 2048,
  /** A DNS subdomain: names of objects, reasons of a status. */
  name: 253,
  /** A DNS label: kinds. */
  label: 63,
  /** A UUID has 36; other API servers may use longer ones. */
  uid: 128,
  /** Group and version: a DNS subdomain, `/`, a DNS label. */
  apiVersion: 317,
  /** Number per pod. Two or three are usual. */
  finalizers: 8,
  /** Number per node. Ten are many. */
  taints: 64,
  /** Sum of the keys and values of an object's labels; node feature discovery writes some 15 KB. */
  labels: 65_536,
  /** Sum of the image references of a pod: 20 images of 100 bytes are many. */
  images: 16_384,
  /** Number per pod of different ends of its containers. Two or three are usual. */
  containerEnds: 16,
  /** Number of containers of all kinds of one pod, and of volumes of one pod; 20 are many. */
  podParts: 256,
} as const;

/** SHA-256, cut to 128 bits: different long texts remain different. */
const hashChars = 32;
const mark = '…';
const markBytes = 3;
const cutForm = new RegExp(`${mark}[0-9a-f]{${hashChars}}$`);
/** A unit of a string has at most three bytes of UTF-8. */
const maxBytesAUnit = 3;

/** Returns `text`, or if it is longer than `maxBytes` its beginning, `…` and a hash of the whole. */
export function bounded(text: string, maxBytes: number): string {
  const isShort = text.length * maxBytesAUnit <= maxBytes || Buffer.byteLength(text) <= maxBytes;
  return isShort ? text : cut(Buffer.from(text), maxBytes);
}

/** Does the same for the UTF-8 from `start` to `end`, without creating a long string. */
export const boundedUtf8 = (
  bytes: Buffer,
  start: number,
  end: number,
  maxBytes: number = bounds.text,
): string =>
  end - start <= maxBytes ? bytes.toString('utf8', start, end) : cut(bytes.subarray(start, end), maxBytes);

/** Whether `bounded` has cut `text`; then it names no existing object. */
export const isCut = (text: string): boolean => cutForm.test(text);

/** Cuts bytes, because a slice of a long string would keep the whole string in memory. */
function cut(bytes: Buffer, maxBytes: number): string {
  let end = Math.max(0, maxBytes - markBytes - hashChars);
  while (isContinuation(bytes[end])) end -= 1;
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, hashChars);
  return `${bytes.toString('utf8', 0, end)}${mark}${hash}`;
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;
