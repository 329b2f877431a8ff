import { etcdKey } from '../../cluster/servers/etcd-objects.ts';
import type { EtcdEntry } from '../../cluster/servers/etcd.ts';
import { placeholder } from './manifest.ts';

/** What is different in each clone. */
export interface Place {
  /** Of eight digits. */
  readonly number: number;
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  readonly createdAtSeconds: number;
}

/** A pod in the API server's stored form, of which clones are made by replacing bytes: a hundred thousand take seconds. */
export class PodTemplate {
  readonly #bytes: Buffer;
  readonly #uid: string;
  readonly #createdAtSeconds: number;
  readonly #times: readonly Time[];

  constructor(
    bytes: Buffer,
    { uid, createdAtSeconds }: { readonly uid: string; readonly createdAtSeconds: number },
  ) {
    this.#bytes = bytes;
    this.#uid = uid;
    this.#createdAtSeconds = createdAtSeconds;
    this.#times = timesIn(bytes, createdAtSeconds);
  }

  get sizeBytes(): number {
    return this.#bytes.length;
  }

  clone(place: Place): EtcdEntry {
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

interface Time {
  readonly at: number;
  readonly seconds: number;
}

function replaceAll(bytes: Buffer, from: string, to: string): void {
  if (from.length !== to.length) throw new Error(`${to} is not as long as ${from}`);
  for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + from.length)) bytes.write(to, at);
}

/** The seconds of a metav1.Time, field 1, have five bytes in the years 1978 to 3058; other numbers near the creation time are unlikely. */
function timesIn(bytes: Buffer, near: number): Time[] {
  const found: Time[] = [];
  for (let at = 1; at + 5 <= bytes.length; at++) {
    const seconds = bytes[at - 1] === 0x08 ? readVarint5(bytes, at) : undefined;
    if (seconds !== undefined && Math.abs(seconds - near) < 600) found.push({ at, seconds });
  }
  return found;
}

function readVarint5(bytes: Buffer, at: number): number | undefined {
  const five = [...bytes.subarray(at, at + 5)];
  const isVarint = five.length === 5 && five.every((byte, i) => (i < 4 ? byte >= 0x80 : byte < 0x80));
  if (!isVarint) return undefined;
  return five.reduce((value, byte, i) => value + (byte & 0x7f) * 128 ** i, 0);
}

function writeVarint5(bytes: Buffer, at: number, value: number): void {
  for (let i = 0; i < 5; i++) bytes[at + i] = (Math.floor(value / 128 ** i) % 128) + (i < 4 ? 0x80 : 0);
}
