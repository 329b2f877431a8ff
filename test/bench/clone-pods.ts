import { etcdKey } from '../cluster/servers/etcd-objects.ts';
import type { EtcdEntry } from '../cluster/servers/etcd.ts';
import { placeholder } from './template-pods.ts';

/** Where one pod is and when it was made. */
export interface ClonePlace {
  /** Eight digits: unique, and in every name and UID. */
  readonly number: number;
  readonly name: string;
  readonly namespace: string;
  readonly node: string;
  readonly createdAtSeconds: number;
}

/** Makes pods out of one stored pod by putting others of the same length in the place of some bytes, so that each is true protobuf. */
export class PodTemplate {
  readonly #bytes: Buffer;
  readonly #uid: string;
  readonly #createdAtSeconds: number;
  readonly #times: readonly { readonly at: number; readonly seconds: number }[];

  constructor(bytes: Buffer, pod: { readonly uid: string; readonly createdAtSeconds: number }) {
    this.#bytes = bytes;
    this.#uid = pod.uid;
    this.#createdAtSeconds = pod.createdAtSeconds;
    this.#times = timesIn(bytes, pod.createdAtSeconds);
  }

  get sizeBytes(): number {
    return this.#bytes.length;
  }

  clone(place: ClonePlace): EtcdEntry {
    const value = Buffer.from(this.#bytes);
    replaceAll(value, placeholder.number, String(place.number));
    replaceAll(value, placeholder.namespace, place.namespace);
    replaceAll(value, placeholder.node, place.node);
    replaceAll(value, this.#uid, `${this.#uid.slice(0, -8)}${place.number}`);
    const shift = place.createdAtSeconds - this.#createdAtSeconds;
    for (const { at, seconds } of this.#times) writeVarint5(value, at, seconds + shift);
    return { key: etcdKey('Pod', place), value };
  }
}

function replaceAll(bytes: Buffer, from: string, to: string): void {
  if (from.length !== to.length) throw new Error(`${to} is not as long as ${from}`);
  for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + from.length)) bytes.write(to, at);
}

/** A metav1.Time's seconds, field 1, are five bytes for the years 1978 to 3058; anything else with such a value near creation is unlikely. */
function timesIn(bytes: Buffer, near: number): { at: number; seconds: number }[] {
  const found: { at: number; seconds: number }[] = [];
  for (let at = 1; at + 5 <= bytes.length; at++) {
    const seconds = bytes[at - 1] === 0x08 ? readVarint5(bytes, at) : undefined;
    if (seconds !== undefined && Math.abs(seconds - near) < 600) found.push({ at, seconds });
  }
  return found;
}

function readVarint5(bytes: Buffer, at: number): number | undefined {
  let value = 0;
  for (let i = 0; i < 5; i++) {
    const byte = bytes[at + i] ?? 0;
    const isLast = i === 4;
    if (byte >= 0x80 === isLast) return undefined;
    value += (byte & 0x7f) * 2 ** (7 * i);
  }
  return value;
}

function writeVarint5(bytes: Buffer, at: number, value: number): void {
  let rest = value;
  for (let i = 0; i < 5; i++) {
    bytes[at + i] = (rest % 128) + (i < 4 ? 0x80 : 0);
    rest = Math.floor(rest / 128);
  }
}
