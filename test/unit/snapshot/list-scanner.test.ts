import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Field } from '../../../src/snapshot/field.ts';
import { ListScanner } from '../../../src/snapshot/list-scanner.ts';

/** What comes of the text when it arrives in pieces of this size. */
function scanned(text: string, size: number): { items: object[]; rest: object } {
  const items: Field[] = [];
  const scanner = new ListScanner('f.json', (item) => items.push(item));
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) scanner.push(bytes.subarray(at, at + size));
  return { rest: scanner.finish().object(), items: items.map((item) => item.object()) };
}

test('whatever the items hold and wherever the pieces end, they are those of the list', () => {
  const list = fc.record({
    kind: fc.string(),
    items: fc.array(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue())),
    metadata: fc.dictionary(fc.constantFrom('items', 'a', 'b'), fc.jsonValue()),
  });
  const indent = fc.constantFrom(undefined, 2, '\t');
  fc.assert(
    fc.property(list, fc.integer({ min: 1, max: 40 }), indent, (value, size, space) => {
      const { items, ...rest } = value;
      const told = scanned(JSON.stringify(value, undefined, space), size);
      expect(told.items).toEqual(JSON.parse(JSON.stringify(items)));
      expect(Object.keys(told.rest).sort()).toEqual([...Object.keys(rest), 'items'].sort());
    }),
  );
});

test('a kind that comes after the items is read, too', () => {
  expect(scanned('{"items":[{"a":1}], "kind":"List"}', 3)).toEqual({
    items: [{ a: 1 }],
    rest: { items: [], kind: 'List' },
  });
});

test.each([
  { text: '{"items":[{"a":"x}', says: 'f.json: items[0]: is cut off: the file ends inside it' },
  { text: '{"items":[{},{}', says: 'f.json: items: is cut off: the file ends inside the list' },
  { text: '{"items":[]', says: 'f.json: (root): is cut off: the file ends too early' },
  { text: '{"items":[{} {}]}', says: 'f.json: items[1]: is not a JSON object' },
  { text: '{"items":[{},]}', says: 'f.json: items[1]: is not a JSON object' },
  { text: '{"items":[,{}]}', says: 'f.json: items[0]: is not a JSON object' },
  { text: '{"items":[[]]}', says: 'f.json: items[0]: is not a JSON object' },
  { text: '', says: 'f.json: (root): is empty' },
])('$text is refused', ({ text, says }) => {
  for (const size of [1, 2, 100]) expect(() => scanned(text, size)).toThrow(says);
});
