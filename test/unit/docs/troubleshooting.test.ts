import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { partOf } from './page.ts';

const page = readFileSync('docs/troubleshooting.md', 'utf8');
const headings = (part: string): readonly string[] =>
  [...part.matchAll(/^### (\S+).*$/gm)].map(([, name = '']) => name);
const types = (file: string): readonly string[] => [
  ...new Set(
    [...readFileSync(file, 'utf8').matchAll(/\btype(?:: | = |[^'\n]*\| )'([A-Z]\w+)'/g)].map(
      ([, type = '']) => type,
    ),
  ),
];

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

test.each([
  {
    ...{ kind: 'GCPolicy', files: ['src/controllers/policystatus/claims.ts'] },
    known: ['Accepted', 'Degraded', 'Enforcing', 'Ready'],
  },
  {
    ...{
      kind: 'NodeGCReport',
      files: ['src/agent/report/conditions.ts', 'src/agent/report/keep-list-risk.ts'],
    },
    known: ['Degraded', 'KeepListAtRisk', 'PressureAhead', 'Ready'],
  },
])('has a heading for each condition of a $kind', ({ kind, files, known }) => {
  expect(
    files
      .flatMap(types)
      .filter((type, i, all) => all.indexOf(type) === i)
      .toSorted(),
  ).toEqual(known);
  expect(headings(partOf(page, `Conditions of a ${kind}`)).toSorted()).toEqual(known);
});
