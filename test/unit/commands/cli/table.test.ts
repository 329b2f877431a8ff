import { expect, test } from 'vitest';
import { columns, shortened } from '../../../../src/process/table.ts';

const nginx = 'docker.io/library/nginx:1.25.3-alpine 0a1b2c3d4e5f';
const monorepo = 'ci/build-and-test-the-whole-monorepo-28371920-x7k2p';
const checkout = 'registry.example.com/platform/checkout-service:2024.11.07-rc.3 0a1b2c3d4e5f';

test('what is left of a text that does not fit', async () => {
  const texts = (
    [
      ['a text that fits', 'abcdef', 6],
      ['one word keeps both ends', 'abcdefg', 5],
      ['an image keeps its name, its tag and its id', nginx, 46],
      ['with less room, also most of the registry', nginx, 40],
      ['a tag is not cut', checkout, 44],
      ['a digest keeps both ends', `quay.io/a@sha256:${'0123456789abcdef'.repeat(4)}`, 40],
      ['a pod keeps its namespace and its random part', monorepo, 40],
      ['a node keeps both ends', 'ip-10-0-111-222.eu-west-1.compute.internal', 30],
      ['a path keeps its file', '/var/log/pods/web_api_0f9c2f9e/app/0.log', 30],
    ] as const
  ).map(([name, text, size]) => `${name}: ${shortened(text, size)}\n`);
  await expect(texts.join('')).toMatchFileSnapshot('./__snapshots__/fitted.txt');
});

test('a table of more rows than a call can have arguments', () => {
  const rows = Array.from({ length: 200_000 }, (_, i) => `pod-${i}`);
  const lines = columns([{ title: 'NAME', text: (name: string) => name }], rows, Infinity);
  expect(lines).toHaveLength(200_001);
  expect(lines.at(-1)).toBe('pod-199999');
});
