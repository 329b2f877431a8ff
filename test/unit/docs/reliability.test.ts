import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { property, worlds } from '../../property.ts';
import { hasTest, isRun, root, textOf } from './named-tests.ts';

const page = textOf('docs/reliability.md');

interface Row {
  readonly fault: string;
  readonly happens: string;
  readonly where: string;
}

/** The rows of every table of the page. */
const rows: readonly Row[] = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| ---') && !line.startsWith('| Fault'))
  .map((line) => {
    const [, fault = '', happens = '', where = ''] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    return { fault, happens, where };
  });

interface NamedTest {
  readonly server: string;
  readonly file: string;
  readonly title: string;
}

/** `real: file: *title*`, one a line of the cell. */
const testsIn = ({ where }: Row): readonly NamedTest[] =>
  where.split('<br>').map((entry) => {
    const [, server = '', file = '', title = ''] = /^(\w[\w ]*): `([^`]+)`: (.+)$/.exec(entry.trim()) ?? [];
    return { server, file, title };
  });

const untested = 'not tested yet';
const tested = rows.filter(({ where }) => where !== untested);
const named = tested.flatMap((row) => testsIn(row).map((one) => ({ ...one, fault: row.fault })));

/** The servers that a test of this file uses. */
function serverOf(file: string): string {
  if (file.startsWith('test/cluster/')) return 'real';
  if (file.startsWith('test/unit/')) return 'unit';
  return file.startsWith('test/contract/') ? 'real and sandbox' : 'sandbox';
}

describe('docs/reliability.md', () => {
  test('has a row for each fault', () => {
    expect(rows.length).toBeGreaterThan(25);
    expect(rows.filter(({ fault, happens }) => fault === '' || happens === '')).toEqual([]);
    expect(new Set(rows.map(({ fault }) => fault)).size).toBe(rows.length);
  });

  test('names a test of each, or that it is not tested yet', () => {
    expect(named.filter(({ file, title }) => file === '' || title === '')).toEqual([]);
  });

  test.each(named)('$fault: $file has the test “$title”', ({ file, title, server }) => {
    expect(isRun(file)).toBe(true);
    expect(hasTest(textOf(file), title)).toBe(true);
    expect(server).toBe(serverOf(file));
  });
});

describe('a title that a page names', () => {
  const table = "const rows = [{ name: 'row' }]; const apart = [{ name: 'no row' }];";

  test.each([
    { code: "test('one', () => {});", title: 'one', expected: true },
    { code: "test('one', () => {});", title: 'on', expected: false },
    { code: "const one = 'one';", title: 'one', expected: false },
    { code: "test.each([1])('one %i', () => {});", title: 'one %i', expected: true },
    { code: "test.each([{ name: 'row' }])('one $name', () => {});", title: 'row', expected: true },
    { code: `${table} test.each(rows)('one $name', () => {});`, title: 'row', expected: true },
    { code: `${table} test.each(rows)('one $name', () => {});`, title: 'no row', expected: false },
    { code: `${table} test.each(rows)('one', () => {});`, title: 'row', expected: false },
    { code: `${table} test.skip.each(rows)('one $name', () => {});`, title: 'row', expected: false },
    { code: "test.skip('one', () => {});", title: 'one', expected: false },
    { code: "test.todo('one');", title: 'one', expected: false },
    { code: "test('one');", title: 'one', expected: false },
    { code: "test('one', { skip: true }, () => {});", title: 'one', expected: false },
    { code: "test.only('one', () => {});", title: 'one', expected: false },
    { code: "test.fails('one', () => {});", title: 'one', expected: false },
    { code: "test('one', ({ skip }) => { skip(); });", title: 'one', expected: false },
    { code: "test('one', (ctx) => { ctx.skip(); });", title: 'one', expected: false },
    { code: "test.skipIf(true)('one (needs x)', () => {});", title: 'one (needs x)', expected: false },
    { code: "test.skipIf(!has)('one', () => {});", title: 'one', expected: false },
    { code: "test.skipIf(!has)('one (needs x)', () => {});", title: 'one (needs x)', expected: true },
    { code: "describe.skip('all', () => { test('one', () => {}); });", title: 'one', expected: false },
    {
      code: "describe.skipIf(!has)('all', () => { test('one', () => {}); });",
      ...{ title: 'one', expected: false },
    },
    {
      code: "const on = describe.skipIf(!has); on('all (needs x)', () => { test('one', () => {}); });",
      ...{ title: 'one (needs x)', expected: true },
    },
    {
      code: "const on = describe.skipIf(!has); on('all (needs x)', () => { test('one', () => {}); });",
      ...{ title: 'one', expected: false },
    },
  ])('$title of $code counts: $expected', ({ code, title, expected }) => {
    expect(hasTest(code, title)).toBe(expected);
  });
});

test('the property tests of the plans have at least 10 000 random samples', property, () => {
  const files = readdirSync(new URL('test/unit/', root), { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('property.test.ts'),
  );
  const units = ['containergc', 'eviction', 'execute', 'imagegc', 'localstorage', 'podgc'];
  const properties = new Map<string, number>();
  for (const file of files) {
    const unit = units.find((name) => file.includes(name)) ?? file;
    const count = [...textOf(`test/unit/${file}`).matchAll(/fc\.(?:asyncP|p)roperty\([^]*?\n\s+worlds,\n/g)]
      .length;
    properties.set(unit, (properties.get(unit) ?? 0) + count);
  }
  expect([...properties.keys()].sort()).toEqual(units);
  const counts = [...properties.values()];
  for (const count of counts) expect(count).toBeGreaterThanOrEqual(3);
  const sum = counts.reduce((all, count) => all + count, 0) * worlds.numRuns;
  expect(sum).toBeGreaterThanOrEqual(10_000);
});
