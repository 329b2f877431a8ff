import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { partOf } from './page.ts';

const page = readFileSync('docs/troubleshooting.md', 'utf8');
const headings = (part: string): readonly string[] =>
  [...part.matchAll(/^### (\S+).*$/gm)].map(([, name = '']) => name);

test('has a heading for each alert, and for nothing else', () => {
  const { groups } = load(readFileSync('helm/dustpan/files/rules.yaml', 'utf8')) as {
    readonly groups: readonly { readonly rules: readonly { readonly alert: string }[] }[];
  };
  const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
  const parts = ['of the controller', 'about policies', 'of the agents', 'about images', 'about both'];
  expect(parts.flatMap((part) => headings(partOf(page, `Alerts ${part}`))).toSorted()).toEqual(
    alerts.toSorted(),
  );
});

/** The reasons in these files: as a value, in a union, and in the cases of a function that passes its reason on. */
const reasonsIn = (file: string): readonly string[] =>
  [
    ...readFileSync(file, 'utf8').matchAll(
      /\breason(?:: | = |[^\n]*\? )'(\w+)'(?: : '(\w+)')?|case '(\w+)':/g,
    ),
  ].flatMap(([, ...words]) => words.filter(Boolean));

test.each([
  { file: 'src/commands/status/trouble.ts', part: 'Problems that only status finds', some: 'NodesBehind' },
  { file: 'src/controllers/policystatus/claims.ts', part: 'Conditions of a GCPolicy', some: 'Tripped' },
  { file: 'src/controllers/policystatus/hold.ts', part: 'Conditions of a GCPolicy', some: 'NodesHolding' },
  { file: 'src/controllers/budgets/words.ts', part: 'Conditions of a GCPolicy', some: 'UsageUnknown' },
  { file: 'src/agent/report/conditions.ts', part: 'Conditions of a NodeGCReport', some: 'ThresholdAhead' },
  {
    file: 'src/agent/report/keep-list-risk.ts',
    part: 'Conditions of a NodeGCReport',
    some: 'DiskNearSignal',
  },
  { file: 'src/agent/report/manager.ts', part: 'Conditions of a NodeGCReport', some: 'RuntimeUnavailable' },
])('explains each reason of $file', ({ file, part, some }) => {
  const reasons = reasonsIn(file);
  expect(reasons).toContain(some);
  // A reason that hides others when the nodes themselves are listed.
  const own = reasons.filter((reason) => reason !== 'NodesDegraded' || part.includes('GCPolicy'));
  expect(own.filter((reason) => !partOf(page, part).includes(`\`${reason}\``))).toEqual([]);
});
