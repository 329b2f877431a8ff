import { existsSync, lstatSync, mkdtempSync, readFileSync, readlinkSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { criRuntime } from '../../src/cri/client.ts';
import type { ContainerRuntime } from '../../src/cri/runtime.ts';
import { startCriSandbox } from '../sandbox/cri/server.ts';
import type { CriSandbox } from '../sandbox/cri/server.ts';

// What tests and the demo rely on from the simulated node, beyond what a real runtime does too.

const { signal } = new AbortController();
let folder: string;
let sandbox: CriSandbox;
let runtime: ContainerRuntime & { close(): void };

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dustpan-node-'));
  sandbox = await startCriSandbox({
    socket: join(folder, 'cri.sock'),
    disk: { capacityBytes: 1_000_000_000, otherBytes: 100_000_000 },
    logs: { pods: join(folder, 'pods'), containers: join(folder, 'containers') },
  });
  runtime = criRuntime({ socket: sandbox.socket });
});

afterEach(() => {
  runtime.close();
  sandbox.stop();
  rmSync(folder, { recursive: true });
});

test('an image takes more than its size, and its removal gives it back', async () => {
  const { disk } = sandbox.runtime;
  const before = disk.figures;
  const { id } = sandbox.runtime.addImage({ tags: ['a'], sizeBytes: 100_000_000 });
  expect(before.availableBytes - disk.figures.availableBytes).toBe(185_000_000);
  expect((await runtime.listImages(signal))[0]?.sizeBytes).toBe(100_000_000);
  expect((await runtime.fileSystems(signal)).images[0]?.usedBytes).toBe(85_000_000);
  await runtime.removeImage(id, signal);
  expect(disk.figures).toEqual(before);
  const { bsize, blocks, bavail } = disk.statfs();
  expect([Number(blocks * bsize), Number(bavail * bsize)]).toEqual([
    expect.closeTo(1_000_000_000, -4),
    expect.closeTo(900_000_000, -4),
  ]);
});

test('layers that a container holds stay until it goes', async () => {
  const { disk } = sandbox.runtime;
  const image = sandbox.runtime.addImage({ tags: ['a'], sizeBytes: 100_000_000 });
  const { containers } = sandbox.runtime.runPod({
    name: 'p',
    containers: [{ name: 'c', image: image.id, writableBytes: 5_000_000 }],
  });
  await runtime.removeImage(image.id, signal);
  expect(disk.figures.usedBytes).toBe(190_000_000);
  await runtime.removeContainer(containers[0]?.id ?? '', signal);
  expect(disk.figures.usedBytes).toBe(100_000_000);
});

test('a pod is as the kubelet makes it, with logs and links on a real disk', async () => {
  const { sandbox: pod, containers } = sandbox.runtime.runPod({
    name: 'web',
    namespace: 'shop',
    uid: 'u1',
    containers: [{ name: 'app', image: 'app:1', log: 'hello', state: 'Exited', exitCode: 2 }],
  });
  const [first] = containers;
  const log = join(folder, 'pods/shop_web_u1/app/0.log');
  const link = join(folder, `containers/web_shop_app-${first?.id ?? ''}.log`);
  expect(readFileSync(log, 'utf8')).toMatch(/ stdout F hello\n$/);
  expect([lstatSync(link).isSymbolicLink(), readlinkSync(link)]).toEqual([true, log]);
  expect(await runtime.containerStatus(first?.id ?? '', signal)).toMatchObject({ logPath: log, exitCode: 2 });
  expect(await runtime.listSandboxes(signal)).toMatchObject([
    { id: pod.id, podUid: 'u1', annotations: { 'kubernetes.io/config.source': 'api' } },
  ]);
  const second = sandbox.runtime.addContainer(pod.id, { name: 'app', image: 'app:1' });
  expect(second).toMatchObject({
    attempt: 1,
    state: 'Running',
    annotations: { 'io.kubernetes.container.restartCount': '1' },
  });
  await runtime.removeSandbox(pod.id, signal);
  expect(readdirSync(join(folder, 'pods/shop_web_u1/app')).sort()).toEqual(['0.log', '1.log']);
});

test('a planned event happens between a list and a removal; a lost answer was obeyed', async () => {
  const { id } = sandbox.runtime.addImage({ tags: ['a'] });
  sandbox.faults.next('RemoveImage', {
    kind: 'before',
    act: () => void sandbox.runtime.runPod({ name: 'late', containers: [{ name: 'c', image: id }] }),
  });
  sandbox.faults.next('RemoveImage', { kind: 'lost', code: status.UNAVAILABLE });
  await runtime.removeImage(id, signal);
  expect(sandbox.runtime.containers).toHaveLength(1);
  const other = sandbox.runtime.addImage({ tags: ['b'] });
  await expect(runtime.removeImage(other.id, signal)).rejects.toMatchObject({ failure: 'unavailable' });
  expect(sandbox.runtime.images.all).toEqual([]);
  expect(sandbox.changes).toEqual(['RemoveImage', 'RemoveImage']);
  expect(sandbox.faults.pending).toBe(0);
});

test('a runtime like CRI-O refuses to remove an image in use', async () => {
  const careful = await startCriSandbox({ socket: join(folder, 'crio.sock'), refusesImagesInUse: true });
  const client = criRuntime({ socket: careful.socket });
  careful.runtime.runPod({ name: 'p' });
  const [image] = careful.runtime.images.all;
  await expect(client.removeImage(image?.id ?? '', signal)).rejects.toMatchObject({ failure: 'other' });
  expect(careful.runtime.images.all).toHaveLength(1);
  client.close();
  careful.stop();
  expect(existsSync(careful.socket)).toBe(false);
});
