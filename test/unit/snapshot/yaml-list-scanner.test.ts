import { dump, loadAll } from 'js-yaml';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Field } from '../../../src/snapshot/field.ts';
import { YamlListScanner } from '../../../src/snapshot/yaml-list-scanner.ts';
import { property } from '../../property.ts';

/** What comes of the text when it arrives in pieces of this size. */
function scanned(text: string, size: number): { items: object[]; rest: object } {
  const items: Field[] = [];
  const load = (part: string): Field[] =>
    loadAll(part)
      .filter((one) => one !== null)
      .map((one) => new Field('f.yaml', '', one));
  const scanner = new YamlListScanner('f.yaml', load, (item) => items.push(item));
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) scanner.push(bytes.subarray(at, at + size));
  return { rest: scanner.finish().object(), items: items.map((item) => item.object()) };
}

test('whatever the items hold and wherever the pieces end, they are those of the list', property, () => {
  const text = fc.oneof(fc.string(), fc.constantFrom('- a', '\n- a\n', 'items:', 'a\n  - b', '# a', 'é'));
  const list = fc.record({
    apiVersion: fc.constant('v1'),
    items: fc.array(fc.dictionary(text, fc.oneof(text, fc.array(text), fc.dictionary(text, text))), {
      minLength: 1,
    }),
    kind: text,
  });
  fc.assert(
    fc.property(list, fc.integer({ min: 1, max: 90 }), fc.boolean(), (value, size, noArrayIndent) => {
      const told = scanned(dump(value, { noArrayIndent }), size);
      expect(told.items).toEqual(JSON.parse(JSON.stringify(value.items)));
      expect(told.rest).toEqual({ ...value, items: [] });
    }),
  );
});

test('comments and empty lines are nobody’s', () => {
  const text = '# a\nitems:\n# b\n\n- a: 1\n# c\n\n  b: 2\n- # d\n  a: 2\nkind: List\n# e';
  expect(scanned(text, 4)).toEqual({ items: [{ a: 1, b: 2 }, { a: 2 }], rest: { items: [], kind: 'List' } });
});

test.each([
  { text: 'items:\n- 7\n', says: 'f.yaml: items[0]: must be an object, is 7' },
  { text: 'items: []\n---\nitems: []\n', says: 'f.yaml: has more than one document' },
  { text: 'items:\n- a: 1\n---\nkind: List\n', says: 'f.yaml: has more than one document' },
  { text: '', says: 'f.yaml: is empty' },
  { text: `kind: List\nmetadata: {${' '.repeat(2_000_000)}}\n`, says: /f\.yaml: is too large .* kubectl/ },
])('refused: $says', ({ text, says }) => {
  expect(() => scanned(text, 10_000)).toThrow(says);
});
