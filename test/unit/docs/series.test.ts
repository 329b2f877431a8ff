import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { knownSeries, selectorsOf, unknownIn } from './queries.ts';

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
}

interface RuleFile {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}

const textOf = (name: string): string =>
  readFileSync(join(process.cwd(), 'helm/dustpan/files', name), 'utf8');
const text = textOf('dashboard.json');
const { panels, templating } = JSON.parse(text) as Dashboard;
const queries = panels.flatMap(({ title, targets = [] }) => targets.map((target) => ({ title, ...target })));
const rules = (load(textOf('rules.yaml')) as RuleFile).groups.flatMap((group) => group.rules);
const known = await knownSeries();

test.each(rules)('the rule $alert uses only existing series', ({ expr }) => {
  expect(selectorsOf(expr)).not.toEqual([]);
  expect(unknownIn(expr, known)).toEqual([]);
});

test.each(queries)('$title: $legendFormat uses only existing series', ({ expr, legendFormat }) => {
  expect(selectorsOf(expr)).not.toEqual([]);
  expect(unknownIn(expr, known)).toEqual([]);
  const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
  const grouped = /\bby \(([^)]*)\)/.exec(expr)?.[1]?.split(', ') ?? [];
  expect(grouped.filter((label) => label !== 'le').toSorted()).toEqual(shown.toSorted());
});

test('defines the variables of all queries', () => {
  const names = templating.list.map(({ name }) => name);
  expect(names).toEqual(['datasource', 'namespace', 'node']);
  const used = [...text.matchAll(/\$\{?(\w+)/g)]
    .map(([, name = '']) => name)
    .filter((name) => !name.startsWith('__'));
  expect([...new Set(used)].sort()).toEqual([...names].sort());
  for (const { definition } of templating.list)
    if (definition !== undefined) expect(unknownIn(definition, known)).toEqual([]);
});
