// npm run report:pictures: draws docs/images/report-*.png, the report of an example in both colour schemes, with a real Chromium.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sparticuz from '@sparticuz/chromium';
import { chromium } from 'playwright-core';

const example = 'test/data/examples/image-disk-full';
const args = ['report', `--snapshot=${example}/snapshot`, `--policy=${example}/policy.json`];
const report = execFileSync(process.execPath, ['src/main.ts', ...args, '--now=2026-01-15T12:00:00Z']);
const directory = mkdtempSync(join(tmpdir(), 'dustpan-pictures-'));
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
    await page.screenshot({ path: `docs/images/report-${colorScheme}.png` });
  }
} finally {
  await browser.close();
  rmSync(directory, { recursive: true });
}
