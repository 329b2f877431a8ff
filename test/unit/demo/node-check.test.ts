import { expect, test } from 'vitest';
import { fatesOf, problemsOf, type Findings, type Thing } from '../../demo/node-check.ts';

const used: Thing = { id: 'used', group: 'images', fate: 'stays', reason: 'InUse' };
const old: Thing = { id: 'old', group: 'images', fate: 'goes', reason: 'Age' };
const log: Thing = { id: '/log', group: 'logs', fate: 'goes', reason: undefined };

interface Found {
  readonly there: readonly string[];
  readonly went: Readonly<Record<string, string>>;
  readonly stays: Readonly<Record<string, string>>;
}

const asExpected: Found = { there: ['used'], went: { old: 'Age' }, stays: { used: 'InUse' } };

const findings = ({ there, went, stays }: Found): Findings => ({
  present: (id) => there.includes(id),
  went: new Map(Object.entries(went)),
  stays: new Map(Object.entries(stays)),
});

test.each([
  { name: 'all as it should be', found: asExpected, expected: [] },
  {
    name: 'something in use is lost',
    found: { ...asExpected, there: [] },
    expected: ['lost: images (used)'],
  },
  {
    ...{ name: 'garbage is still there', found: { ...asExpected, there: ['used', 'old'] } },
    expected: ['still there: images (old)'],
  },
  {
    ...{
      name: 'what goes with something else is still there',
      found: { ...asExpected, there: ['used', '/log'] },
    },
    expected: ['still there: logs (/log)'],
  },
  {
    ...{ name: 'it went without a word', found: { ...asExpected, went: {} } },
    expected: ['images (old): the reason is missing, not Age'],
  },
  {
    ...{ name: 'it went for another reason', found: { ...asExpected, went: { old: 'Space' } } },
    expected: ['images (old): the reason is Space, not Age'],
  },
  {
    ...{ name: 'it stays for another reason', found: { ...asExpected, stays: { used: 'Pinned' } } },
    expected: ['images (used): the reason is Pinned, not InUse'],
  },
  {
    ...{ name: 'a stranger went', found: { ...asExpected, went: { old: 'Age', x: 'Age' } } },
    expected: ['removed, and nobody knows what it is: x'],
  },
])('the demo tells: $name', ({ found, expected }) => {
  expect(problemsOf([used, old, log], findings(found))).toEqual(expected);
});

test('the reckoning has a line for each group, and another for each other fate', () => {
  expect(fatesOf([used, log, old], findings(asExpected))).toEqual([
    ['images', '2', 'kept', '1', 'InUse'],
    ['', '', 'removed', '1', 'Age'],
    ['logs', '1', 'removed', '1', 'with their containers'],
  ]);
});
