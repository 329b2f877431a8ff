import { readFileSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { imageLayout, type ImageFile } from '../../../scripts/image/layout.ts';
import { instructionsOf } from './dockerfile.ts';

const all = instructionsOf(readFileSync('Dockerfile', 'utf8'));
const last = all.slice(all.findLastIndex(({ name }) => name === 'FROM'));
const of = (name: string): readonly string[] =>
  last.filter((one) => one.name === name).map(({ rest }) => rest);
const facts = JSON.parse(readFileSync('package.json', 'utf8')) as Readonly<Record<string, string>>;

test('the Dockerfile makes the image of scripts/image/layout.ts, without a shell, RUN, variables, ports and volumes', () => {
  expect(of('USER')).toEqual([imageLayout.user]);
  expect(imageLayout.user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  expect(of('ENTRYPOINT').map((words) => JSON.parse(words) as unknown)).toEqual([imageLayout.entrypoint]);
  expect(of('WORKDIR')).toEqual([imageLayout.workingDir]);
  expect([...of('COPY')].sort()).toEqual(imageLayout.files.map(copyLine).sort());
  const none = ['CMD', 'ENV', 'EXPOSE', 'VOLUME', 'ADD', 'RUN'];
  expect(none.flatMap(of)).toEqual([]);
});

test('the Dockerfile has the labels of scripts/image/layout.ts, and those of version and revision', () => {
  const given = [
    ...of('LABEL')
      .join(' ')
      .matchAll(/(\S+)="([^"]*)"/g),
  ].map(([, key, value]) => [key, value]);
  expect(Object.fromEntries(given)).toEqual({
    ...imageLayout.labels,
    'org.opencontainers.image.version': '${VERSION}',
    'org.opencontainers.image.revision': '${REVISION}',
  });
  expect(imageLayout.labels['org.opencontainers.image.licenses']).toBe(facts['license']);
});

function copyLine({ from, to, mode }: ImageFile): string {
  // Files of the build are copied from its stage.
  if (from.startsWith('dist/')) return `--from=bundle /src/${from} ${to}`;
  return `--chmod=${mode ?? ''} ${from} ${to}`;
}

test('.dockerignore admits exactly the files that the Dockerfile copies', () => {
  const ignore = readFileSync('.dockerignore', 'utf8').split('\n');
  const needed = all
    .filter(({ name, rest }) => name === 'COPY' && !rest.includes('--from='))
    .flatMap(({ rest }) =>
      rest
        .split(' ')
        .filter((word) => !word.startsWith('--'))
        .slice(0, -1),
    );
  expect(
    ignore
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1))
      .sort(),
  ).toEqual([...new Set(needed)].sort());
  expect(ignore).toContain('*');
});

test('the program `dustpan` starts Node', () => {
  const [first, second] = readFileSync('scripts/image/dustpan', 'utf8').split('\n');
  expect(first).toBe(`#!${imageLayout.entrypoint[0] ?? ''}`);
  expect(second).toBe(`import('${imageLayout.entrypoint[1] ?? ''}');`);
  expect(statSync('scripts/image/dustpan').mode & 0o111).toBe(0o111);
});
