import { expect, test } from 'vitest';
import { dustpan, inputOfEachTest } from './plan/fixture.ts';

// The page is tested in a browser: npm run test:browser.
const input = inputOfEachTest('image-disk-full');

test('report -o markdown', async () => {
  const { stdout } = await dustpan(['report', ...input.args, '-o', 'markdown']);
  expect(stdout).toMatch(/^## What dustpan would remove\n/);
});
