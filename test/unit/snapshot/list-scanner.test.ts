import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Field } from '../../../src/snapshot/field.ts';
import { ListScanner } from '../../../src/snapshot/list-scanner.ts';
import { property } from '../../property.ts';

/** What comes of the text when it arrives in pieces of this size. */
function scanned(text: string, size: number): { items: object[]; rest: object } {
  const items: Field[] = [];
  const scanner = new ListScanner('f.json', (item) => items.push(item));
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) scanner.push(bytes.subarray(at, at + size));
  return { rest: scanner.finish().object(), items: items.map((item) => item.object()) };
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

test('items that hold lists of items like themselves, each written in its own way', property, () => {
  const { item } = fc.letrec<{ item: object; value: unknown }>((tie) => ({
    item: fc.dictionary(fc.constantFrom('metadata', 'b'), tie('value'), { maxKeys: 2 }),
    value: fc.oneof({ maxDepth: 3 }, fc.constantFrom('},{"metadata":', '}', 1), fc.array(tie('item'))),
  }));
  const written = fc.record({
    item,
    indent: fc.constantFrom(undefined, undefined, undefined, 2, 4),
    gap: fc.constantFrom(',', ',', ',', ',\n', ' ,\n  '),
  });
  const size = fc.constantFrom(5, 50, 1_000_000);
  fc.assert(
    fc.property(fc.array(written, { minLength: 3 }), size, (all, pieces) => {
      const texts = all.map(
        (one, i) => `${i === 0 ? '' : one.gap}${JSON.stringify(one.item, undefined, one.indent)}`,
      );
      const told = scanned(`{"items":[${texts.join('')}]}`, pieces);
      expect(told.items).toEqual(all.map((one) => JSON.parse(JSON.stringify(one.item)) as unknown));
    }),
  );
});

test('what is no JSON is found among items that end as expected', () => {
  const items = Array.from({ length: 9 }, (_, i) => JSON.stringify({ metadata: { name: `pod-${i}` } }));
  const at = (i: number, text: string): string => `{"items":[\n${items.with(i, text).join(',\n')}\n]}`;
  expect(() => scanned(at(5, '{"metadata":{"name":nil}}'), 1_000)).toThrow('f.json: items[5]: is not JSON');
  expect(() => scanned(at(5, '{"metadata":{"name":"a"}'), 1_000)).toThrow('f.json: items[5]: is');
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
  { text: '{"items":[]', says: 'f.json: is cut off: the file ends too early' },
  { text: '{"items":[{} {}]}', says: 'f.json: items[1]: is not a JSON object' },
  { text: '{"items":[{},]}', says: 'f.json: items[1]: is not a JSON object' },
  { text: '{"items":[,{}]}', says: 'f.json: items[0]: is not a JSON object' },
  { text: '{"items":[[]]}', says: 'f.json: items[0]: is not a JSON object' },
  { text: '', says: 'f.json: is empty' },
])('$text is refused', ({ text, says }) => {
  for (const size of [1, 2, 100]) expect(() => scanned(text, size)).toThrow(says);
});
