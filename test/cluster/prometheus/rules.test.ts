// @bed prometheus
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { runCommand, type CommandResult } from '../servers/command.ts';
import { repositoryRoot } from '../repository.ts';

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string }[] }[];
}

interface RuleTests {
  readonly tests: readonly {
    readonly promql_expr_test: readonly { readonly expr: string; readonly exp_samples: readonly unknown[] }[];
  }[];
}

const rulesFile = join(repositoryRoot(), 'helm/dustpan/files/rules.yaml');
const folder = join(repositoryRoot(), 'test/cluster/prometheus/rules');
const testFiles = readdirSync(folder).map((name) => join(folder, name));
const read = (file: string): unknown => load(readFileSync(file, 'utf8'));

const alerts = (read(rulesFile) as RuleFile).groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
const expectations = testFiles
  .flatMap((file) => (read(file) as RuleTests).tests)
  .flatMap((one) => one.promql_expr_test)
  .map(({ expr, exp_samples }) => ({
    alert: /^ALERTS\{alertname="(\w+)",alertstate="firing"\}$/.exec(expr)?.[1],
    fires: exp_samples.length > 0,
  }));

const promtool = (args: readonly string[]): Promise<CommandResult> => runCommand(['promtool', ...args]);

test('promtool accepts the rules', async () => {
  const { code, stdout, stderr } = await promtool([
    'check',
    'rules',
    '--lint=all',
    '--lint-fatal',
    rulesFile,
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(`SUCCESS: ${alerts.length} rules found`);
});

test.each(testFiles)('firing and silent alerts: %s', async (file) => {
  const { code, stdout, stderr } = await promtool(['test', 'rules', file]);
  expect(`${stdout}${stderr}`).not.toContain('FAILED');
  expect(code).toBe(0);
});

describe('every alert is tested', () => {
  test.each(alerts)('%s fires and stays silent', (alert) => {
    const fires = expectations.filter((one) => one.alert === alert).map((one) => one.fires);
    expect(new Set(fires)).toEqual(new Set([true, false]));
  });

  test('the tests name no other alert', () => {
    expect([...new Set(expectations.map(({ alert }) => alert))].sort()).toEqual(alerts.toSorted());
  });
});
