import { expect, test } from 'vitest';
import { apiPod, attempts, dead, down, link, log, logsRule } from './builders.ts';
import { Node, nodePolicy } from './environment.ts';

test('the report names what was removed, newest first, with its pod, reason, policy, size and time', async () => {
  const node = new Node();
  const goneLog = '/var/log/pods/default_gone_uid-gone/main/0.log';
  node.runtime.add(dead('gone-0', 60, { pod: 'gone' }), down('gone', 60));
  node.runtime.statuses.set('gone-0', { logPath: goneLog });
  node.logs.add(
    log('default_gone_uid-gone/main/0.log'),
    log('default_gone_uid-gone/main/0.log.20260101-000001'),
    log('default_gone_uid-gone/side/0.log'),
    link('stray_default_main-0123456789.log', '/var/log/pods/default_x_uid-x/main/0.log'),
  );
  node.pods = [];
  await node.pass();
  expect(node.lastRemoved).toMatchObject([{ kind: 'LogLink' }]);
  node.clock.advance(60_000);
  await node.pass();
  const shown = node.lastRemoved.map(({ kind, name, pod, reason, bytes }) => [
    ...[kind, name, pod?.name, reason, bytes],
  ]);
  expect(shown).toEqual([
    ['LogDirectory', undefined, 'gone', 'OrphanedLogs', 100],
    ['Sandbox', undefined, 'gone', 'Sandbox', undefined],
    ['Container', 'main', 'gone', 'PodGone', 200],
    ['LogLink', undefined, undefined, 'BrokenLink', undefined],
  ]);
  const [directory, , container, stray] = node.lastRemoved;
  const atMs = node.clock.now().getTime();
  expect(directory).toMatchObject({ id: '/var/log/pods/default_gone_uid-gone', policy: 'default', atMs });
  expect([container?.id, stray?.atMs]).toEqual(['gone-0', atMs - 60_000]);
});
