import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Field } from '../../../src/snapshot/field.ts';
import { JsonList } from '../../../src/snapshot/json-list.ts';
import { property } from '../../property.ts';

/** What comes of the text when it arrives in pieces of this size. */
function scanned(text: string, size: number): { items: object[]; rest: object } {
  const items: Field[] = [];
  const list = new JsonList('f.json', (item) => items.push(item));
  for (let at = 0; at < text.length; at += size) list.push(text.slice(at, at + size));
  return { rest: list.end().object(), items: items.map((item) => item.object()) };
}

test('whatever the items hold and wherever the pieces end, they are those of the list', property, () => {
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
    { numRuns: 40 },
  );
});

test('a kind that comes after the items is read, too', () => {
  expect(scanned('{"items":[{"a":1}], "kind":"List"}', 3)).toEqual({
    items: [{ a: 1 }],
    rest: { items: [], kind: 'List' },
  });
});

test.each([
  { text: '{"items":[{"a":"x}', says: 'f.json: items[0]: is not JSON, or is cut off' },
  { text: '{"items":[{},{}', says: 'f.json: items[2]: is not JSON, or is cut off' },
  { text: '{"items":[]', says: 'f.json: is not JSON, or is cut off' },
  { text: '{"items":[{} {}]}', says: 'f.json: items[1]: is not JSON' },
  { text: '{"items":[{},]}', says: 'f.json: items[1]: is not JSON' },
  { text: '{"items":[,{}]}', says: 'f.json: items[0]: is not JSON' },
  { text: '{"items":[]} x', says: 'f.json: is not JSON' },
  { text: 'oops', says: 'f.json: is not JSON' },
  { text: ' ', says: 'f.json: is empty' },
  { text: '', says: 'f.json: is empty' },
])('$text is refused', ({ text, says }) => {
  expect(() => scanned(text, 1)).toThrow(says);
});

test('half a list is no list, wherever it is cut off', () => {
  const text = '{"kind":"List","items":[{"a":"x y","b":[1,true,null]},{}],"metadata":{"c":1.5e3}}';
  for (let end = 1; end < text.length; end++)
    expect(() => scanned(text.slice(0, end), 20)).toThrow('cut off');
});

test('names and numbers are those of JSON.parse', () => {
  expect(scanned('{"items":[{"__proto__":1,"a":-0.5e1}]}', 7).items).toEqual(
    JSON.parse('[{"__proto__":1,"a":-5}]'),
  );
});
