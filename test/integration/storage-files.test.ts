import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { StoragePod } from '../../src/api/local-storage.ts';
import { FileUsage, type FileUsageOptions } from '../../src/node/storage-source.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { RecordingLogger } from '../fakes/recording-logger.ts';
import { container, FakeRuntime } from '../fakes/runtime.ts';
import { buildStorageWorker, type BuiltWorker } from './storage-worker.built.ts';

const never = new AbortController().signal;
const mebi = 1024 * 1024;
let built: BuiltWorker;
let folder: string;
let runtime: FakeRuntime;
let log: RecordingLogger;
let pods: readonly StoragePod[] | undefined;
let source: FileUsage;
const capacities = new Map<string, number>();

const kubelet = (...names: readonly string[]): string => join(folder, 'kubelet', ...names);
const logs = (...names: readonly string[]): string => join(folder, 'logs', ...names);
const volume = (uid: string, name: string): string =>
  kubelet('pods', uid, 'volumes', 'kubernetes.io~empty-dir', name);
const write = (path: string, bytes: number): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, Buffer.alloc(bytes, 1));
};
const du = (path: string): number =>
  Number(execFileSync('du', ['-s', '-x', '--block-size=1', path], { encoding: 'utf8' }).split('\t')[0]);

const podOf = (name: string, over: Partial<StoragePod> = {}): StoragePod => ({
  ...{ uid: `uid-${name}`, name, namespace: 'default', phase: 'Running', deletionAtMs: undefined },
  ...{ configHash: undefined, configSource: undefined, priority: undefined, keepMarked: false, images: [] },
  storage: {
    emptyDirs: [{ name: 'data', isMemory: false, limit: undefined }],
    containers: [{ name: 'main', limit: undefined }],
    ...{ initContainers: [], overheadBytes: undefined },
  },
  ...over,
});

const open = (more: Partial<FileUsageOptions> = {}): FileUsage =>
  new FileUsage({
    ...{ runtime, log, clock: systemClock, workerFile: built.workerFile },
    roots: { kubelet: kubelet(), podLogs: logs() },
    pods: () => pods,
    statFs: (path) =>
      Promise.resolve({
        ...{ capacityBytes: capacities.get(path) ?? 100, availableBytes: 1 },
        ...{ inodes: undefined, inodesFree: undefined },
      }),
    ...more,
  });

beforeAll(async () => {
  built = await buildStorageWorker();
});
afterAll(() => {
  built.remove();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dustpan-storage-'));
  runtime = new FakeRuntime();
  runtime.filesystems = { images: [{ mountpoint: '/images', usedBytes: 1, inodesUsed: 1 }], containers: [] };
  log = new RecordingLogger();
  capacities.clear();
  pods = [podOf('web')];
  runtime.add(container('c1', { pod: 'web' }), container('c0', { pod: 'web', state: 'Exited' }));
  const stats = { writableLayerInodes: 1 };
  runtime.stats = ['c1', 'c0'].map((id, i) => ({
    ...{ id, ...stats, writableLayerBytes: 1000 + i },
    labels: { 'io.kubernetes.pod.uid': 'uid-web', 'io.kubernetes.container.name': 'main' },
  }));
  write(join(volume('uid-web', 'data'), 'x'), mebi);
  write(kubelet('pods', 'uid-web', 'etc-hosts'), 200);
  write(kubelet('pods', 'uid-web', 'volumes', 'kubernetes.io~configmap', 'conf', 'key'), 300);
  write(kubelet('pods', 'uid-web', 'volumes', 'kubernetes.io~secret', 'ignored', 'key'), 5 * mebi);
  write(logs('default_web_uid-web', 'main', '0.log'), 20_000);
  write(logs('default_web_uid-web', 'ended', '0.log'), 5 * mebi);
  source = open();
});
afterEach(async () => {
  await source.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('a pod', () => {
  test('uses its emptyDirs, layers, logs, configMaps and etc-hosts; of containers only those that run count', async () => {
    const usage = await source.usage(never);
    const pod = usage.pods.get('uid-web');
    const data = du(volume('uid-web', 'data'));
    const mainLogs = du(logs('default_web_uid-web', 'main', '0.log'));
    expect(pod?.volumes.get('data')?.bytes).toBe(data);
    expect(pod?.containers.map(({ name, layer, logs: log }) => [name, layer?.bytes, log?.bytes])).toEqual([
      ['main', 1000, mainLogs],
    ]);
    const conf = du(kubelet('pods', 'uid-web', 'volumes', 'kubernetes.io~configmap', 'conf'));
    const hosts = du(kubelet('pods', 'uid-web', 'etc-hosts'));
    expect(pod?.total?.bytes).toBe(data + mainLogs + 1000 + conf + hosts);
    expect(pod?.total?.atMs).toBeGreaterThan(usage.atMs - 10_000);
  });

  test('is measured anew in each look', async () => {
    const before = (await source.usage(never)).pods.get('uid-web')?.volumes.get('data');
    write(join(volume('uid-web', 'data'), 'y'), mebi);
    await expect
      .poll(async () => (await source.usage(never)).pods.get('uid-web')?.volumes.get('data')?.bytes)
      .toBe((before?.bytes ?? 0) + mebi);
  });

  test('that is finished is not walked', async () => {
    pods = [podOf('web', { phase: 'Succeeded' })];
    expect((await source.usage(never)).pods.size).toBe(0);
  });

  test('that is static goes by the UID that the kubelet has', async () => {
    pods = [podOf('web', { uid: 'mirror', configHash: 'uid-web' })];
    expect((await source.usage(never)).pods.get('uid-web')?.volumes.size).toBe(1);
  });

  test('whose annotation claims the UID of another is left out, and that one is counted by its own spec', async () => {
    const shm = { name: 'shm', isMemory: true, limit: undefined };
    write(join(volume('uid-web', 'shm'), 'x'), mebi);
    const before = (await source.usage(never)).pods.get('uid-web');
    const spec = podOf('web').storage;
    const claimed = { ...spec, emptyDirs: [...spec.emptyDirs, { ...shm, isMemory: false }] };
    pods = [podOf('web'), podOf('liar', { configHash: 'uid-web', storage: claimed })];
    const after = (await source.usage(never)).pods;
    expect([...after.keys()]).toEqual(['uid-web']);
    expect(after.get('uid-web')?.total?.bytes).toBe(before?.total?.bytes);
  });

  test.each([
    { name: 'a hash', over: { configHash: '../../../etc' } },
    { name: 'a name', over: { name: '../x' } },
  ])('whose $name would lead out is not walked', async ({ over }) => {
    pods = [podOf('web', over)];
    expect((await source.usage(never)).pods.size).toBe(0);
  });

  test('that nothing is there of yet uses nothing', async () => {
    pods = [podOf('new')];
    const pod = (await source.usage(never)).pods.get('uid-new');
    expect(pod?.total?.bytes).toBe(0);
    expect(pod?.volumes.size).toBe(0);
  });

  test('without pods nothing is measured', async () => {
    pods = undefined;
    expect((await source.usage(never)).pods.size).toBe(0);
  });
});

test('a volume that cannot be measured is unknown, and so is the total; said once, and again when it comes back', async () => {
  const [web] = pods ?? [];
  const memory = { name: 'shm', isMemory: true, limit: undefined };
  mkdirSync(volume('uid-web', 'shm'));
  const spec = podOf('web').storage;
  const tooDeep = Array.from({ length: 150 }, () => 'd');
  mkdirSync(join(volume('uid-web', 'data'), ...tooDeep), { recursive: true });
  pods = [{ ...podOf('web'), storage: { ...spec, emptyDirs: [...spec.emptyDirs, memory] } }];
  const problems: (string | undefined)[] = [];
  for (let i = 0; i < 3; i += 1) {
    const { pods: measured, problem } = await source.usage(never);
    problems.push(problem);
    const pod = measured.get('uid-web');
    expect(pod?.volumes.size).toBe(0);
    expect(pod?.total).toBeUndefined();
    expect(pod?.containers[0]?.layer?.bytes).toBe(1000);
  }
  const line = /^volume\/data of pod default\/web cannot be measured: .+, and 1 more$/;
  expect(problems).toEqual([undefined, expect.stringMatching(line), expect.stringMatching(line)]);
  expect(log.lines.map(({ level, message }) => [level, message])).toEqual([
    ['warn', 'local storage that cannot be measured counts as unknown'],
  ]);
  expect(log.lines[0]?.fields).toMatchObject({ count: 2 });
  rmSync(join(volume('uid-web', 'data'), 'd'), { recursive: true });
  pods = web === undefined ? [] : [web];
  await expect.poll(async () => (await source.usage(never)).pods.get('uid-web')?.total).toBeDefined();
  expect((await source.usage(never)).problem).toBeUndefined();
  expect(log.lines).toHaveLength(1);
  mkdirSync(join(volume('uid-web', 'data'), ...tooDeep), { recursive: true });
  await expect.poll(async () => (await source.usage(never)).pods.get('uid-web')?.total).toBeUndefined();
  expect(log.lines).toHaveLength(2);
});

test.each([
  { name: 'the same', images: 100, expected: false },
  { name: 'another', images: 50, expected: true },
])('images on $name file system: dedicated $expected', async ({ images, expected }) => {
  capacities.set('/images', images);
  expect((await source.usage(never)).dedicatedImageFs).toBe(expected);
});

test('a large volume is walked at its pace in the background; the rest is there, and the loop is free', async () => {
  const data = volume('uid-web', 'data');
  for (let i = 0; i < 12_000; i += 1) writeFileSync(join(data, String(i)), '');
  pods = [podOf('web'), podOf('small')];
  write(join(volume('uid-small', 'data'), 'x'), mebi);
  source = open({ patienceMs: 100 });
  const expected = du(data);
  const startedMs = performance.now();
  let longestMs = 0;
  let lastMs = performance.now();
  const timer = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - lastMs);
    lastMs = performance.now();
  }, 10);
  const first = await source.usage(never);
  expect(first.pods.get('uid-web')?.volumes.size).toBe(0);
  await expect
    .poll(async () => (await source.usage(never)).pods.get('uid-web')?.volumes.get('data')?.bytes)
    .toBe(expected);
  clearInterval(timer);
  const tookMs = performance.now() - startedMs;
  await expect
    .poll(async () => (await source.usage(never)).pods.get('uid-small')?.total?.bytes ?? 0)
    .toBeGreaterThan(mebi);
  // A walk on this loop would hold it up all the time; what else does is a busy machine.
  expect(longestMs).toBeLessThan(Math.max(400, tookMs / 2));
});

describe('the thread', () => {
  test('ends with the source, in the middle of a walk, and comes back when it is needed', async () => {
    for (let i = 0; i < 5000; i += 1) writeFileSync(join(volume('uid-web', 'data'), String(i)), '');
    source = open({ patienceMs: 1 });
    await source.usage(never);
    await source.close();
    source = open();
    expect((await source.usage(never)).pods.get('uid-web')?.total).toBeDefined();
    await source.close();
    expect((await source.usage(never)).pods.get('uid-web')?.total).toBeDefined();
  });

  test('that dies fails the look, and the next one starts another', async () => {
    const broken = join(folder, 'broken.mjs');
    writeFileSync(
      broken,
      'import { parentPort } from "node:worker_threads"; parentPort.on("message", () => { throw new Error("no"); });',
    );
    source = open({ workerFile: pathToFileURL(broken) });
    await expect(source.usage(never)).rejects.toThrow('walking local storage');
    await expect(source.usage(never)).rejects.toThrow('walking local storage');
  });

  /** Tells of each volume, as its bytes, how many rounds there were; `after` is what it does then. */
  const counting = (offsetMs: number, after = ''): URL => {
    const file = join(folder, 'counting.mjs');
    const answer = `{ key, walked: { kind: 'measured', bytes }, parts: [], atMs: Date.now() + ${offsetMs}, tookMs: 3600000 }`;
    writeFileSync(
      file,
      `import { parentPort, threadId } from "node:worker_threads";
      let rounds = 0;
      parentPort.on("message", ({ jobs }) => {
        const bytes = ++rounds + 1000 * threadId;
        parentPort.postMessage({ results: jobs.map(({ key }) => (${answer})), isDone: true });
        ${after}
      });`,
    );
    return pathToFileURL(file);
  };
  const dataBytes = async (): Promise<number> =>
    (await source.usage(never)).pods.get('uid-web')?.volumes.get('data')?.bytes ?? NaN;

  test('that dies between two looks is replaced', async () => {
    source = open({ workerFile: counting(-600_000, 'setTimeout(() => process.exit(), 20);') });
    const first = await dataBytes();
    await expect.poll(dataBytes).toBeGreaterThanOrEqual(1000 * (Math.floor(first / 1000) + 1));
  });

  test.each([
    { name: 'rests what took long', offsetMs: -1000, rounds: 1 },
    { name: 'does not rest what was measured before the clock was set back', offsetMs: 60_000, rounds: 2 },
    { name: 'forgets what is far off', offsetMs: 3_600_000, rounds: 2 },
  ])('$name', async ({ offsetMs, rounds }) => {
    source = open({ workerFile: counting(offsetMs) });
    const first = await dataBytes();
    expect((await dataBytes()) - first).toBe(rounds - 1);
  });

  test('a runtime that does not answer fails the look', async () => {
    runtime.fail('containerStats');
    await expect(source.usage(never)).rejects.toThrow('containerStats: refused by the test');
  });

  test('a stop ends the wait', async () => {
    const stop = new AbortController();
    const looking = source.usage(stop.signal);
    stop.abort(new Error('stopping'));
    await expect(looking).rejects.toThrow('stopping');
  });
});
