import { expect, test } from 'vitest';
import { RuntimeWatch } from '../../../../src/commands/agent/runtime.ts';
import { RuntimeError } from '../../../../src/cri/runtime.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { FakeRuntime } from '../../../fakes/runtime.ts';

const never = new AbortController().signal;

function watching() {
  const runtime = new FakeRuntime();
  const log = new RecordingLogger();
  let readied = 0;
  const watch = new RuntimeWatch({ runtime, socket: '/x.sock', log, onReady: () => (readied += 1) });
  return { runtime, log, watch, readied: () => readied };
}

const away = new RuntimeError('Version: the socket /x.sock is missing', 'unavailable');

test('a runtime counts as unavailable until its first response', async () => {
  const { watch, readied } = watching();
  expect([watch.check(), watch.version]).toEqual(['not checked yet', undefined]);
  await watch.probe(never);
  expect([watch.check(), watch.version?.name, readied()]).toEqual([undefined, 'containerd', 1]);
});

test('a lost and a restored runtime are reported once each, and wake waiting code', async () => {
  const { runtime, log, watch, readied } = watching();
  await watch.probe(never);
  await watch.probe(never);
  runtime.fail('version', { error: away, times: 3 });
  for (let look = 0; look < 3; look++) await watch.probe(never);
  expect(watch.check()).toBe(away.message);
  await watch.probe(never);
  expect(log.lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
    'info container runtime answers',
    'warn container runtime is not available, nothing is collected until it is',
    'info container runtime answers',
  ]);
  expect(readied()).toBe(2);
});

test('a runtime that is not ready counts as unavailable', async () => {
  const { runtime, log, watch, readied } = watching();
  runtime.notReady = 'Starting';
  await watch.probe(never);
  expect([watch.check(), watch.version, readied()]).toEqual(['Status: not ready: Starting', undefined, 0]);
  runtime.notReady = undefined;
  await watch.probe(never);
  expect([watch.check(), readied()]).toEqual([undefined, 1]);
  expect(log.lines.map(({ level }) => level)).toEqual(['warn', 'info']);
});

test('a shutdown does not make the runtime unavailable', async () => {
  const { watch, log } = watching();
  await expect(watch.probe(AbortSignal.abort())).rejects.toThrow();
  expect(log.lines).toEqual([]);
});
