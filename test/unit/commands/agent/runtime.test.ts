import { expect, test } from 'vitest';
import { RuntimeWatch } from '../../../../src/commands/agent/runtime.ts';
import { recordedRuntime, type RuntimeCall } from '../../../../src/commands/agent/runtime-calls.ts';
import { RuntimeError } from '../../../../src/cri/runtime.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { FakeRuntime } from '../../../fakes/runtime.ts';
import { SettlingClock } from '../../../fakes/settling-clock.ts';

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

test('every finished call is reported under the kubelet’s name for it', async () => {
  const runtime = new FakeRuntime();
  const clock = new SettlingClock();
  const calls: RuntimeCall[] = [];
  const told = recordedRuntime(runtime, clock, (call) => calls.push(call));
  runtime.fail('removeImage', { target: 'sha256:a' });
  await told.listImages(never);
  await expect(told.removeImage('sha256:a', never)).rejects.toThrow('refused');
  expect(calls).toEqual([
    { operation: 'list_images', ok: true, seconds: 0 },
    { operation: 'remove_image', ok: false, seconds: 0 },
  ]);
});

test('each call is forwarded unchanged', async () => {
  const runtime = new FakeRuntime();
  const told = recordedRuntime(runtime, new SettlingClock(), () => undefined);
  await told.version(never);
  await told.checkReady(never);
  await told.sandboxImage(never);
  await told.imageStatus('a', never);
  await told.imageLayers('h', never);
  await told.fileSystems(never);
  await told.listContainers(never);
  await told.containerStatus('b', never);
  await told.stopContainer('c', 5, never);
  await told.removeContainer('d', never);
  await told.listSandboxes(never);
  await told.sandboxStatus('e', never);
  await told.stopSandbox('f', never);
  await told.removeSandbox('g', never);
  await told.containerStats(never);
  expect(runtime.calls).toEqual([
    'version',
    'checkReady',
    'sandboxImage',
    'imageStatus a',
    'imageLayers h',
    'fileSystems',
    'listContainers',
    'containerStatus b',
    'stopContainer c',
    'removeContainer d',
    'listSandboxes',
    'sandboxStatus e',
    'stopSandbox f',
    'removeSandbox g',
    'containerStats',
  ]);
});
