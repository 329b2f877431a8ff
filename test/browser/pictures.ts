// npm run report:pictures: draws docs/images/report-*.png, the report of a cluster of 40 nodes in both colour schemes, with a real Chromium.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sparticuz from '@sparticuz/chromium';
import { chromium } from 'playwright-core';
import { writeCluster } from './cluster.ts';

const directory = mkdtempSync(join(tmpdir(), 'dustpan-pictures-'));
const snapshot = join(directory, 'snapshot');
writeCluster(snapshot);
const args = ['src/main.ts', 'report', `--snapshot=${snapshot}`];
const report = execFileSync(process.execPath, args, { maxBuffer: 2 ** 26 });
const browser = await chromium.launch({
  executablePath: await sparticuz.executablePath(),
  args: ['--no-sandbox', '--disable-gpu'],
});
try {
  const file = join(directory, 'report.html');
  writeFileSync(file, report);
  mkdirSync('docs/images', { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ colorScheme, viewport: { width: 1200, height: 1000 } });
    await page.goto(`file://${file}`);
    // Down to the end of the namespaces.
    const namespaces = await page.locator('section', { hasText: 'Largest namespaces' }).boundingBox();
    const height = Math.ceil((namespaces?.y ?? 0) + (namespaces?.height ?? 0)) + 24;
    await page.setViewportSize({ width: 1200, height });
    await page.screenshot({ path: `docs/images/report-${colorScheme}.png` });
  }
} finally {
  await browser.close();
  rmSync(directory, { recursive: true });
}
