import { beforeEach, expect, test } from 'vitest';
import { StatusScreen } from '../../../src/cli/status-screen.ts';
import { minutesAgo, now, policy, report } from './status.fixtures.ts';

const later = new Date(now.getTime() + 5_000);
const objects = (due: number) => ({
  policies: [policy('default', { pods: { due } })],
  reports: [report('n')],
  notes: [],
});

let written: string[];
const write = (text: string): void => void written.push(text);
beforeEach(() => {
  written = [];
});

test('elsewhere than on a terminal only what changed is news, one after the other', async () => {
  const screen = new StatusScreen({ output: 'table', isColourAllowed: true, terminal: undefined, write });
  await screen.draw(objects(1), now);
  await screen.draw(objects(1), later);
  await screen.draw(objects(2), later);
  expect(written).toHaveLength(2);
  expect(written.join('')).not.toContain('\u001b');
  expect(written[1]).toMatch(/^\n1 policy, 1 node\npods: 2 due/);
});

test.each([
  { output: 'json', between: '' },
  { output: 'yaml', between: '---\n' },
] as const)('as $output each state is a document', async ({ output, between }) => {
  const screen = new StatusScreen({ output, isColourAllowed: true, terminal: undefined, write });
  await screen.draw(objects(1), now);
  await screen.draw(objects(2), now);
  expect(written[1]?.startsWith(between)).toBe(true);
  expect(written.map((text) => /"?podsDue"?: (\d)/.exec(text)?.[1])).toEqual(['1', '2']);
});

const terminal = { rows: 24, columns: 80 };

test('on a terminal it is drawn in place, and again when an age has grown', async () => {
  const screen = new StatusScreen({ output: 'table', isColourAllowed: false, terminal, write });
  await screen.draw(objects(1), now);
  await screen.draw(objects(1), now);
  await screen.draw(objects(1), new Date(now.getTime() + 60_000));
  expect(written).toHaveLength(2);
  expect(written[0]?.startsWith('\u001b[2J\u001b[H')).toBe(true);
  expect(written[1]?.startsWith('\u001b[H1 policy')).toBe(true);
  expect(written[1]?.endsWith('\n\u001b[J')).toBe(true);
});

test('what does not fit below the trouble is left out', async () => {
  const screen = new StatusScreen({
    output: 'table',
    isColourAllowed: false,
    terminal: { rows: 10, columns: 80 },
    write,
  });
  const reports = Array.from({ length: 40 }, (_, i) => report(`node-${i}`, { reportTime: minutesAgo(i) }));
  const note = `a watch does not work: ${'reason '.repeat(12)}`;
  await screen.draw({ policies: [], reports, notes: [note.trim()] }, now);
  const lines = (written[0] ?? '').split('\n').slice(0, -1);
  expect(lines).toHaveLength(9);
  expect(lines[0]).toContain('! a watch does not work');
  expect(
    Math.max(...lines.map((line) => line.replaceAll(/\u001b\[[0-9;]*[A-Z]/g, '').length)),
  ).toBeLessThanOrEqual(80);
  expect(lines[2]).toContain('! Node node-16, node-17, node-18 and 21 more: Stale');
  expect(lines.at(-1)).toMatch(/^… \d+ more lines/);
});
