import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { asList, asText, isObject, type JsonObject } from './json.ts';

/**
 * How a message is written, field by field: JSON name → number and type. Written by hand from the published .proto files, and
 * deliberately not with dustpan's generated code, whose mistakes it would repeat.
 */
export type MessageFields = Readonly<Record<string, readonly [number: number, type: FieldType]>>;

export type FieldType =
  | 'string'
  | 'bool'
  | 'int'
  | 'time'
  | 'stringMap'
  | { readonly message: MessageFields }
  | { readonly repeated: 'string' | MessageFields };

/** The message that says what the JSON object says, of the fields that are known. */
export function encodeMessage(object: JsonObject, fields: MessageFields): Uint8Array {
  const writer = new BinaryWriter();
  writeMessage(writer, object, fields);
  return writer.finish();
}

function writeMessage(writer: BinaryWriter, object: JsonObject, fields: MessageFields): void {
  for (const [name, [number, type]] of Object.entries(fields)) {
    const value = object[name];
    if (value !== undefined && value !== null) writeField({ writer, number }, type, value);
  }
}

interface Slot {
  readonly writer: BinaryWriter;
  readonly number: number;
}

/** Wire types of protobuf. */
const varint = 0;
const bytes = 2;

function writeField(slot: Slot, type: FieldType, value: unknown): void {
  switch (type) {
    case 'string':
      return writeString(slot, value);
    case 'bool':
      slot.writer.tag(slot.number, varint).bool(value === true);
      return;
    case 'int':
      slot.writer.tag(slot.number, varint).int64(Number(value));
      return;
    case 'time':
      return writeNested(slot, timeOf(asText(value)), timeFields);
    case 'stringMap':
      return writeMap(slot, value);
    default:
      return writeStructure(slot, type, value);
  }
}

function writeString({ writer, number }: Slot, value: unknown): void {
  writer.tag(number, bytes).string(asText(value));
}

function writeNested({ writer, number }: Slot, object: JsonObject, fields: MessageFields): void {
  writer.tag(number, bytes).fork();
  writeMessage(writer, object, fields);
  writer.join();
}

const entryFields: MessageFields = { key: [1, 'string'], value: [2, 'string'] };
const timeFields: MessageFields = { seconds: [1, 'int'], nanos: [2, 'int'] };

const timeOf = (text: string): JsonObject => ({ seconds: Math.floor(Date.parse(text) / 1000), nanos: 0 });

function writeMap(slot: Slot, map: unknown): void {
  if (!isObject(map)) return;
  for (const [key, value] of Object.entries(map)) writeNested(slot, { key, value }, entryFields);
}

function writeStructure(slot: Slot, type: Exclude<FieldType, string>, value: unknown): void {
  if ('message' in type) {
    if (isObject(value)) writeNested(slot, value, type.message);
    return;
  }
  for (const item of asList(value)) {
    if (type.repeated === 'string') writeString(slot, item);
    else if (isObject(item)) writeNested(slot, item, type.repeated);
  }
}
