import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { asList, asObject, asText, type JsonObject } from './json.ts';

/**
 * The fields of a message: JSON name → number and type. Written by hand from the published .proto files and not with dustpan's generated code,
 * so that a wrong field number there is found.
 */
export type MessageFields = Readonly<Record<string, readonly [number: number, type: FieldType]>>;

type FieldType =
  | 'string'
  | 'bool'
  | 'int'
  | 'time'
  | 'stringMap'
  /** A text in JSON, a message in protobuf. */
  | 'quantity'
  | 'quantityMap'
  /** Any JSON; in protobuf a message with its bytes, or with a string as it is. */
  | 'rawJson'
  | { readonly message: MessageFields }
  /** A message whose fields JSON inlines into the outer object. */
  | { readonly inline: MessageFields }
  | { readonly repeated: 'string' | MessageFields };

/** Encodes the known fields of a JSON object. */
export function encodeMessage(object: JsonObject, fields: MessageFields): Uint8Array {
  const writer = new BinaryWriter();
  writeMessage(writer, object, fields);
  return writer.finish();
}

function writeMessage(writer: BinaryWriter, object: JsonObject, fields: MessageFields): void {
  for (const [name, [number, type]] of Object.entries(fields)) {
    const value = typeof type === 'object' && 'inline' in type ? object : object[name];
    if (value !== undefined && value !== null) writeField({ writer, number }, type, value);
  }
}

interface Slot {
  readonly writer: BinaryWriter;
  readonly number: number;
}

type Write = (slot: Slot, value: unknown) => void;

const writers: Readonly<Record<Extract<FieldType, string>, Write>> = {
  string: writeString,
  bool: ({ writer, number }, value) => writer.tag(number, WireType.Varint).bool(value === true),
  int: ({ writer, number }, value) => writer.tag(number, WireType.Varint).int64(Number(value)),
  time: (slot, value) => writeNested(slot, timeOf(asText(value)), timeFields),
  stringMap: writeMap,
  quantity: writeQuantity,
  rawJson: (slot, value) => {
    const json = typeof value === 'string' ? value : JSON.stringify(value);
    writeNested(slot, { raw: json }, { raw: [1, 'string'] });
  },
  quantityMap: (slot, map) => {
    for (const [key, value] of Object.entries(asObject(map)))
      writeNested(slot, { key, value }, quantityEntryFields);
  },
};

function writeField(slot: Slot, type: FieldType, value: unknown): void {
  if (typeof type === 'string') writers[type](slot, value);
  else if ('message' in type) writeNested(slot, asObject(value), type.message);
  else if ('inline' in type) writeNested(slot, asObject(value), type.inline);
  else for (const item of asList(value)) writeItem(slot, type.repeated, item);
}

function writeItem(slot: Slot, type: 'string' | MessageFields, item: unknown): void {
  if (type === 'string') writeString(slot, item);
  else writeNested(slot, asObject(item), type);
}

function writeString({ writer, number }: Slot, value: unknown): void {
  writer.tag(number, WireType.LengthDelimited).string(asText(value));
}

function writeNested({ writer, number }: Slot, object: JsonObject, fields: MessageFields): void {
  writer.tag(number, WireType.LengthDelimited).fork();
  writeMessage(writer, object, fields);
  writer.join();
}

const entryFields: MessageFields = { key: [1, 'string'], value: [2, 'string'] };
const timeFields: MessageFields = { seconds: [1, 'int'], nanos: [2, 'int'] };

const timeOf = (text: string): JsonObject => ({ seconds: Math.floor(Date.parse(text) / 1000), nanos: 0 });

const quantityEntryFields: MessageFields = { key: [1, 'string'], value: [2, 'quantity'] };

function writeQuantity(slot: Slot, value: unknown): void {
  writeNested(slot, { string: value }, { string: [1, 'string'] });
}

function writeMap(slot: Slot, map: unknown): void {
  for (const [key, value] of Object.entries(asObject(map))) writeNested(slot, { key, value }, entryFields);
}
