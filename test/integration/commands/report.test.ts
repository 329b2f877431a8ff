import { expect, test } from 'vitest';
import { dustpan, inputOfEachTest } from './plan/fixture.ts';

// The page is tested in a browser: npm run test:browser.
const input = inputOfEachTest('image-disk-full');

test('report -o markdown, and bad usage', async () => {
  const { stdout } = await dustpan(['report', ...input.args, '-o', 'markdown']);
  expect(stdout).toMatch(/^## What dustpan would remove\n/);
  expect(await dustpan(['report', ...input.args, '-o', 'pdf'])).toMatchObject({
    ...{ code: 2, stderr: expect.stringContaining('report: ') as string },
  });
  expect(await dustpan(['report', ...input.args, '--node=a'])).toMatchObject({
    ...{ code: 2, stderr: expect.stringContaining('report: --node and --nodes read a cluster') as string },
  });
});
