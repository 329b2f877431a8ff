import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/** What `k8s\0` and runtime.Unknown wrap. */
interface Envelope {
  readonly kind: string;
  readonly raw: Uint8Array;
}

export function openEnvelope(bytes: Uint8Array): Envelope {
  if (Buffer.from(bytes.subarray(0, 4)).toString('latin1') !== 'k8s\0') throw new Error('no envelope');
  const unknown = fields(bytes.subarray(4));
  return { kind: text(fields(first(unknown, 1)), 2), raw: first(unknown, 2) };
}

/** Names of the items of a list: field 2, in them metadata 1, in it name 1. */
export function itemNames(list: Uint8Array): readonly string[] {
  return all(fields(list), 2).map(objectName);
}

export const objectName = (object: Uint8Array): string => text(fields(first(fields(object), 1)), 1);

/** reason (4) and code (6) of a Status. */
export function statusOf(raw: Uint8Array): { readonly reason: string; readonly code: number } {
  const reader = new BinaryReader(raw);
  let code = 0;
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (number === 6) code = reader.int32();
    else reader.skip(type);
  }
  return { reason: text(fields(raw), 4), code };
}

interface BinaryEvent {
  readonly type: string;
  readonly kind: string;
  readonly name: string;
}

/** A watch stream: frames behind four bytes of length, big end first. */
export function watchEvents(stream: Buffer): readonly BinaryEvent[] {
  const events: BinaryEvent[] = [];
  for (let at = 0; at < stream.length;) {
    const end = at + 4 + stream.readUInt32BE(at);
    const event = fields(stream.subarray(at + 4, end));
    const { kind, raw } = openEnvelope(first(fields(first(event, 2)), 1));
    events.push({ type: text(event, 1), kind, name: objectName(raw) });
    at = end;
  }
  return events;
}

type Fields = ReadonlyMap<number, readonly Uint8Array[]>;

/** The length-delimited fields of a message; others are skipped. */
function fields(message: Uint8Array): Fields {
  const reader = new BinaryReader(message);
  const found = new Map<number, Uint8Array[]>();
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (type === WireType.LengthDelimited) found.set(number, [...(found.get(number) ?? []), reader.bytes()]);
    else reader.skip(type);
  }
  return found;
}

const all = (message: Fields, number: number): readonly Uint8Array[] => message.get(number) ?? [];
const first = (message: Fields, number: number): Uint8Array => all(message, number)[0] ?? new Uint8Array();
const text = (message: Fields, number: number): string => Buffer.from(first(message, number)).toString();
