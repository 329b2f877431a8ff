import { posix } from 'node:path';
import { expect, test } from 'vitest';
import { logsJson } from '../../../../src/commands/snapshot/logs.ts';

test.each([
  { name: 'the default directories', roots: ['/var/log/pods', '/var/log/containers'] },
  { name: 'other directories', roots: ['/data/pods', '/x/links'] },
])('logs found in $name have paths in the default directories', ({ roots: [pods = '', containers = ''] }) => {
  const at = { bytes: 0, mtimeMs: 0 };
  const link = `${containers}/a.log`;
  const entries = [`${pods}/a/0.log`, posix.relative(containers, `${pods}/a/0.log`), '/elsewhere/0.log'].map(
    (target) => ({ path: link, target, ...at }),
  );
  const written = logsJson(entries, { pods, containers }) as { path: string; target: string }[];
  const resolved = written.map(({ path, target }) => posix.resolve(posix.dirname(path), target));
  expect(resolved).toEqual(['/var/log/pods/a/0.log', '/var/log/pods/a/0.log', '/elsewhere/0.log']);
  expect(new Set(written.map(({ path }) => path))).toEqual(new Set(['/var/log/containers/a.log']));
});
