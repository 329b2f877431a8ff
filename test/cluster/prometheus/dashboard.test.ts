// @bed prometheus
import { mkdtempSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../servers/command.ts';
import { dashboardQueries, inGrafana } from './dashboard.ts';
import { repositoryRoot } from '../repository.ts';

const queries = dashboardQueries(
  readFileSync(join(repositoryRoot(), 'helm/dustpan/files/dashboard.json'), 'utf8'),
);

/** promtool parses them as rules, and each error names its line. */
async function check(exprs: readonly string[]): Promise<{ readonly code: number; readonly stderr: string }> {
  const file = join(mkdtempSync(join(tmpdir(), 'dashboard-')), 'rules.json');
  const rules = exprs.map((expr, i) => ({ record: `panel:${i}`, expr }));
  await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
  return await runCommand(['promtool', 'check', 'rules', '--lint=none', file]);
}

test('every query of the dashboard is PromQL', async () => {
  expect(queries.length).toBeGreaterThan(50);
  const { code, stderr } = await check(queries.map(({ expr }) => inGrafana(expr)));
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test('an invalid query is detected', async () => {
  expect((await check(['sum by (job (up)'])).stderr).toContain('could not parse expression');
});
