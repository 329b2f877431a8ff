import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { chartDirectory, only, render } from './chart.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
}

interface Groups {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
}

const rulesOf = ({ groups }: Groups): readonly Rule[] => groups.flatMap(({ rules }) => rules);
const all = rulesOf(load(readFileSync(join(chartDirectory, 'files/rules.yaml'), 'utf8')) as Groups);
const namesOf = (rules: readonly Rule[]): readonly string[] => rules.map(({ alert }) => alert);

async function rendered(set: Readonly<Record<string, unknown>>, rule: object = {}): Promise<readonly Rule[]> {
  const alerts = { enabled: true, renderMode: 'alwaysRender', ...rule };
  const manifests = await render({ set: { 'metrics.prometheusRule': alerts, ...set } });
  return rulesOf(only(manifests, 'PrometheusRule').spec as unknown as Groups);
}

test('seven alerts by default; extra has all of the file, and disabled leaves some out', async () => {
  expect(namesOf(await rendered({}))).toEqual([
    'DustpanControllerDown',
    'DustpanPodDeletesFail',
    'DustpanBreakerTripped',
    'DustpanPolicyNotAccepted',
    'DustpanNodeDegraded',
    'DustpanKeepListAtRisk',
    'DustpanDiskFillsDespiteCollection',
  ]);
  expect(await rendered({}, { extra: true })).toEqual(all);
  const disabled = ['DustpanBreakerTripped', 'DustpanAgentMissing'];
  expect(namesOf(await rendered({}, { extra: true, disabled }))).toEqual(
    namesOf(all).filter((name) => !disabled.includes(name)),
  );
});

test.each(['controller', 'agent'])(
  'without the %s, its absence raises no alert, and all other alerts stay',
  async (component) => {
    const left = await rendered({ [`${component}.enabled`]: false }, { extra: true });
    const isAbout = ({ expr }: Rule): boolean => expr.includes(`job="dustpan-${component}"`);
    expect(namesOf(left)).toEqual(namesOf(all.filter((rule) => !isAbout(rule))));
    expect(left.filter(({ expr }) => expr.includes('absent(') && expr.includes(component))).toEqual([]);
    expect(all.filter(isAbout).length).toBeGreaterThan(5);
  },
);

test('each alert concerns one component, or every installed one', () => {
  const jobs = all.map(({ expr }) => [...new Set(expr.match(/job=~?"[^"]*"/g))]);
  const known = ['job="dustpan-controller"', 'job="dustpan-agent"', 'job=~"dustpan-(controller|agent)"'];
  for (const named of jobs) {
    expect(named).toHaveLength(1);
    expect(known).toContain(named[0]);
  }
});
