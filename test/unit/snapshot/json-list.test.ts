import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Field } from '../../../src/snapshot/field.ts';
import { JsonList } from '../../../src/snapshot/json-list.ts';

/** Parses the text in pieces of this size. */
function parsed(text: string, size: number): { items: object[]; rest: object } {
  const items: Field[] = [];
  const list = new JsonList('f.json', (item) => items.push(item));
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) list.push(bytes.subarray(at, at + size));
  return { rest: list.end().object(), items: items.map((item) => item.object()) };
}

test('returns the items of any list, wherever its pieces end', () => {
  const list = fc.record({
    kind: fc.string(),
    items: fc.array(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue())),
    metadata: fc.dictionary(fc.constantFrom('items', 'a', 'b'), fc.jsonValue()),
  });
  const indent = fc.constantFrom(undefined, 2, '\t');
  fc.assert(
    fc.property(list, fc.integer({ min: 1, max: 40 }), indent, (value, size, space) => {
      const { items, ...rest } = value;
      const result = parsed(JSON.stringify(value, undefined, space), size);
      expect(result.items).toEqual(JSON.parse(JSON.stringify(items)));
      expect(Object.keys(result.rest).sort()).toEqual([...Object.keys(rest), 'items'].sort());
    }),
    { numRuns: 40 },
  );
});

test.each([
  { text: '{"items":[{"a":"x}', problem: 'f.json: items[0]: is not JSON, or is cut off' },
  { text: '{"items":[{} {}]}', problem: 'f.json: is not JSON' },
  { text: '{"items":[{},]}', problem: 'f.json: is not JSON' },
  { text: '{"items":[]} x', problem: 'f.json: is not JSON' },
  { text: 'oops', problem: 'f.json: is not JSON' },
  { text: '', problem: 'f.json: is empty' },
])('refuses $text', ({ text, problem }) => {
  expect(() => parsed(text, 1)).toThrow(problem);
});

test('refuses a list that is cut off anywhere', () => {
  const text = '{"kind":"List","items":[{"a":"x y","b":[1,true,null]},{}],"metadata":{"c":1.5e3}}';
  for (let end = 1; end < text.length; end++) expect(() => parsed(text.slice(0, end), 20)).toThrow('cut off');
});
