import { expect, test } from 'vitest';
import { platform, userAgent } from '../../../../src/commands/version/version.ts';

test.each([
  { platform: 'linux', arch: 'x64', expected: 'linux/amd64' },
  { platform: 'linux', arch: 'arm64', expected: 'linux/arm64' },
  { platform: 'darwin', arch: 'arm64', expected: 'darwin/arm64' },
] as const)('$expected', ({ expected, ...host }) => {
  expect(platform(host)).toBe(expected);
});

test('the user agent names dustpan, its version and its platform', () => {
  expect(userAgent()).toMatch(/^dustpan\/test \(\w+\/\w+\) test$/);
});
