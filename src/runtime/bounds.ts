import { createHash } from 'node:crypto';

/**
 * How much is kept of a text or list that somebody else wrote. Bytes of UTF-8, unless a name says otherwise.
 *
 * The API server validates names, UIDs of objects, labels and finalizers. It stores owner references, image references, status texts and the
 * length of every list as they come, up to etcd's 1.5 MiB an object. Each bound is far above what a working cluster has: what is over it is not
 * real, and only has to do no harm.
 */
export const bounds = {
  /** Any text of an object: an image reference, the longest one that is read whole, has at most 900 (name, tag and SHA-512 digest). */
  text: 2048,
  /** A DNS subdomain: names of objects, and what a status gives as its reason. */
  name: 253,
  /** A DNS label: kinds. */
  label: 63,
  /** A UUID has 36; other API servers may give others. */
  uid: 128,
  /** Group and version: a DNS subdomain, `/`, a DNS label. */
  apiVersion: 317,
  /** Of a pod. Two or three are usual. */
  finalizers: 8,
  /** Of a node. Ten are many. */
  taints: 64,
  /** Keys and values of an object's labels together; node feature discovery writes some 15 KB. */
  labels: 65_536,
  /** Texts of all images of a pod together: 20 images of 100 bytes are many. */
  images: 16_384,
  /** Containers of all kinds of one pod, and volumes of one pod. The kubelet starts containers one by one; 20 are many. */
  podParts: 256,
} as const;

/** SHA-256, cut to 128 bits: two long texts that differ stay different. */
const hashChars = 32;
const mark = '…';
const markBytes = 3;
const cutForm = new RegExp(`${mark}[0-9a-f]{${hashChars}}$`);
/** Of UTF-8, for one unit of a string. */
const maxBytesAUnit = 3;

/** `text`; of a longer one its beginning, `…` and a hash of the whole, together `maxBytes` at most. */
export function bounded(text: string, maxBytes: number): string {
  const isShort = text.length * maxBytesAUnit <= maxBytes || Buffer.byteLength(text) <= maxBytes;
  return isShort ? text : cut(Buffer.from(text), maxBytes);
}

/** The same of the UTF-8 from `start` to `end`, of which no long string is made. */
export const boundedUtf8 = (bytes: Buffer, start: number, end: number): string =>
  end - start <= bounds.text
    ? bytes.toString('utf8', start, end)
    : cut(bytes.subarray(start, end), bounds.text);

/** Whether `text` is what `bounded` makes of a longer one: it names nothing that exists. */
export const isCut = (text: string): boolean => cutForm.test(text);

/** From bytes: a slice of a long string would keep all of it in memory. */
function cut(bytes: Buffer, maxBytes: number): string {
  let end = Math.max(0, maxBytes - markBytes - hashChars);
  while (isContinuation(bytes[end])) end -= 1;
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, hashChars);
  return `${bytes.toString('utf8', 0, end)}${mark}${hash}`;
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;
