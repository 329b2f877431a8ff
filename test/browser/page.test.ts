import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe from 'axe-core';
import sparticuz from '@sparticuz/chromium';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Decision, PlanDocument } from '../../src/evaluation/plan/document.ts';
import { reportData } from '../../src/commands/report/data.ts';
import { reportHtml } from '../../src/commands/report/html.ts';
import { decision, plan } from '../unit/commands/plan/builders.ts';
import { dustpan, inputOfEachTest } from '../integration/commands/plan/fixture.ts';
import { writeCluster } from './cluster.ts';

const input = inputOfEachTest('image-disk-full');
let browser: Browser;
let directory: string;
let cluster: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'dustpan-report-'));
  cluster = join(directory, 'cluster');
  writeCluster(cluster);
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
const isTooWide = (page: Page) =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > document.documentElement.clientWidth');

describe.each(['light', 'dark'] as const)('the page of a snapshot in %s', (scheme) => {
  test.each([
    { name: 'one node', args: () => input.args },
    { name: '40 nodes', args: () => [`--snapshot=${cluster}`] },
  ])('has no error, asks for nothing, and is accessible: $name', async ({ args }) => {
    const { code, stdout } = await dustpan(['report', ...args()]);
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

test('the usage of 40 nodes fits a phone and a wide screen', async () => {
  const { stdout } = await dustpan(['report', `--snapshot=${cluster}`]);
  const { page } = await opened([stdout]);
  for (const width of [360, 900, 1600]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await isTooWide(page)).toBe(false);
    const bar = await page.locator('.bar').first().boundingBox();
    expect(bar?.width).toBeGreaterThan(150);
  }
  expect(await page.locator('.bar').count()).toBe(20);
  expect(await page.locator('figure').count()).toBe(4);
  const firstRow = (title: string) =>
    page
      .locator('section', { has: page.getByRole('heading', { name: title }) })
      .locator('tbody tr')
      .first();
  await expect.poll(() => firstRow('Largest workloads').textContent()).toContain('deployment/');
  expect(await firstRow('Suggested requests and limits').textContent()).toMatch(/pod.*→/);
  expect(await page.locator('.note').allTextContents()).toEqual([
    'web-12: the report has no usage of disks.',
    'data-05: the values are older than 15 minutes.',
  ]);
});

interface Reports {
  readonly items: readonly {
    readonly metadata: object;
    readonly status: {
      readonly usage?: Readonly<Record<'fileSystems' | 'namespaces' | 'workloads', object[]>>;
    };
  }[];
}

test('a hostile report in a snapshot is neither markup nor a value', async () => {
  const file = join(cluster, 'nodegcreports.json');
  const stored = readFileSync(file, 'utf8');
  const hostile = '<img src=x onerror=alert(1)>';
  const { items } = JSON.parse(stored) as Reports;
  const [first, second, third] = items.flatMap(({ status }) => status.usage ?? []);
  first?.fileSystems.push({
    name: hostile,
    capacityBytes: '"><script>',
    availableBytes: -1,
    usedBytes: 1e400,
  });
  second?.namespaces.push({ name: hostile, pods: 1, bytes: 2 ** 45 });
  Object.assign(third ?? {}, { unknown: hostile });
  third?.workloads.push({
    ...{
      namespace: 'shop',
      kind: 'Deployment',
      name: hostile,
      highestBytes: 2 ** 45,
      watchedSeconds: 604_800,
    },
    parts: [{ kind: 'container', name: hostile, highestBytes: 2 ** 45 }],
  });
  writeFileSync(file, JSON.stringify({ kind: 'List', items }));
  const { stdout } = await dustpan(['report', `--snapshot=${cluster}`]);
  writeFileSync(file, stored);
  const { page, problems } = await opened([stdout]);
  expect(await page.locator('img').count()).toBe(0);
  expect(await page.locator('.note').allTextContents()).toEqual([
    `web-03: unknown: ${hostile}.`,
    'web-12: the report has no usage of disks.',
    'data-05: the values are older than 15 minutes.',
  ]);
  expect(await page.getByText(hostile, { exact: true }).count()).toBe(1);
  expect(await page.getByText(`deployment/${hostile}`, { exact: true }).count()).toBe(2);
  expect(problems).toEqual([]);
});

test('on paper nothing is cut, and nothing asks to be clicked', async () => {
  const { page } = await opened(pageOf(plan({ decisions: [pod('x'.repeat(200))] })));
  await page.emulateMedia({ media: 'print' });
  expect(await page.locator('#search').isVisible()).toBe(false);
  expect(await isTooWide(page)).toBe(false);
});

test('--kept=false leaves out kept objects, and counts them', async () => {
  const { stdout } = await dustpan(['report', ...input.args, '--kept=false']);
  const { page } = await opened([stdout]);
  await expect.poll(() => rows(page).count()).toBe(2);
  expect(await page.locator('.tiles').textContent()).toContain('kept7');
});
