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

test('every query of the dashboard is PromQL', async () => {
  expect(queries.length).toBeGreaterThan(50);
  // promtool parses them as rules, and each error names its line.
  const file = join(mkdtempSync(join(tmpdir(), 'dashboard-')), 'rules.json');
  const rules = queries.map(({ expr }, i) => ({ record: `panel:${i}`, expr: inGrafana(expr) }));
  await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
  const { code, stderr } = await runCommand(['promtool', 'check', 'rules', '--lint=none', file]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});
