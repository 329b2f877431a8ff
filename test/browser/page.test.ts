import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe from 'axe-core';
import sparticuz from '@sparticuz/chromium';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Decision, PlanDocument } from '../../src/commands/plan/document.ts';
import { reportData } from '../../src/commands/report/data.ts';
import { reportHtml } from '../../src/commands/report/html.ts';
import { decision, plan } from '../unit/commands/plan/builders.ts';
import { dustpan, inputOfEachTest } from '../integration/commands/plan/fixture.ts';

const input = inputOfEachTest('image-disk-full');
let browser: Browser;
let directory: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'dustpan-report-'));
  browser = await chromium.launch({
    executablePath: await sparticuz.executablePath(),
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  });
});
afterAll(async () => {
  await browser.close();
  rmSync(directory, { recursive: true });
});

interface Opened {
  readonly page: Page;
  /** Errors, messages of the console, and requests other than for the page. */
  readonly problems: string[];
}

async function opened(pieces: Iterable<string>, scheme: 'light' | 'dark' = 'light'): Promise<Opened> {
  const file = join(directory, 'report.html');
  writeFileSync(file, [...pieces].join(''));
  const page = await browser.newPage({ colorScheme: scheme });
  const problems: string[] = [];
  page.on('console', (message) => problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => {
    if (request.url() !== `file://${file}`) problems.push(request.url());
  });
  await page.goto(`file://${file}`);
  return { page, problems };
}

const facts = {
  ...{ policies: [], pods: undefined, nodes: undefined, namespaces: undefined, jobs: undefined },
  ...{ replicaSets: undefined, parts: [], reports: [], notes: [] },
};
const pageOf = (document: PlanDocument) => reportHtml(document, reportData(document, facts));
const pod = (name: string, over: Partial<Decision> = {}): Decision =>
  decision({
    ...{ unit: 'podgc', verdict: 'Delete', reason: 'Expired', policy: 'default', mode: 'Enforce', order: 1 },
    object: { kind: 'Pod', namespace: 'web', name, uid: name, node: 'node-1' },
    ...over,
  });
const rows = (page: Page) => page.locator('#rows tr');

describe.each(['light', 'dark'] as const)('the page of a snapshot in %s', (scheme) => {
  test('has no error, asks for nothing, and is accessible', async () => {
    const { code, stdout } = await dustpan(['report', ...input.args]);
    expect(code).toBe(0);
    const { page, problems } = await opened([stdout], scheme);
    await expect.poll(() => rows(page).count()).toBeGreaterThan(5);
    // Debugging tools are not bound by the policy of the page; a script element would be.
    const found = await page.evaluate(`${axe.source}; axe.run()`);
    const { violations } = found as axe.AxeResults;
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    expect(serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
    expect(problems).toEqual([]);
  });
});

test('searches 100 000 objects, and shows them by the hundred', async () => {
  const decisions = Array.from({ length: 100_000 }, (_, i) =>
    i % 2 === 0 ? pod(`done-${i}`) : pod(`kept-${i}`, { verdict: 'Keep', reason: 'TooYoung', order: null }),
  );
  const { page, problems } = await opened(pageOf(plan({ decisions })));
  await expect.poll(() => rows(page).count()).toBe(100);
  await page.fill('#search', 'WEB/done-99998 finished');
  await expect.poll(() => page.textContent('#position')).toBe('Objects 1 to 1 of 1 found (100000 in all)');
  expect(await rows(page).first().textContent()).toContain('web/done-99998It has finished.');
  await page.fill('#search', '');
  await page.selectOption('#fate', 'keep');
  await expect
    .poll(() => page.textContent('#position'))
    .toBe('Objects 1 to 100 of 50000 found (100000 in all)');
  await page.click('#next');
  expect(await page.textContent('#position')).toMatch(/^Objects 101 to 200/);
  await page.click('#previous');
  expect(await page.isDisabled('#previous')).toBe(true);
  expect(problems).toEqual([]);
});

test('a hostile name is a name', async () => {
  const name = '</script><script>document.title="owned"</script><img src=x onerror=alert(1)>';
  const object = { kind: 'Image', id: 'sha256:a', node: '<b>n</b>', name } as const;
  const policies = [{ name: '<i>p</i>', mode: 'Enforce', planned: 1 } as const];
  const { page, problems } = await opened(
    pageOf(plan({ decisions: [pod('x', { object, policy: '<i>p</i>' })], policies, notes: ['<u>n</u>'] })),
  );
  await expect.poll(() => rows(page).count()).toBe(1);
  expect(await rows(page).textContent()).toContain(name);
  expect(await page.title()).toMatch(/^dustpan report/);
  expect(await page.locator('img, i, u, b').count()).toBe(0);
  expect(problems).toEqual([]);
});

test('on paper nothing is cut, and nothing asks to be clicked', async () => {
  const { page } = await opened(pageOf(plan({ decisions: [pod('x'.repeat(200))] })));
  await page.emulateMedia({ media: 'print' });
  expect(await page.locator('#search').isVisible()).toBe(false);
  const isWider = await page.evaluate<boolean>(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth',
  );
  expect(isWider).toBe(false);
});

test('--kept=false leaves out kept objects, and counts them', async () => {
  const { stdout } = await dustpan(['report', ...input.args, '--kept=false']);
  const { page } = await opened([stdout]);
  await expect.poll(() => rows(page).count()).toBe(2);
  expect(await page.locator('.tiles').textContent()).toContain('kept7');
});
