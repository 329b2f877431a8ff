import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { criRuntime } from '../../../src/cri/client.ts';
import { servesCri } from '../../../src/cri/probe.ts';
import type { ContainerRuntime } from '../../../src/cri/runtime.ts';
import { findSocket, socketPath } from '../../../src/cri/sockets.ts';
import { isCut } from '../../../src/runtime/bounds.ts';
import { startCriSandbox, type CriSandbox } from '../../sandbox/cri/server.ts';
import { SimError } from '../../sandbox/cri/sim-error.ts';

const { signal } = new AbortController();
let folder: string;
let sandbox: CriSandbox;
let runtime: ContainerRuntime & { close(): void };

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dustpan-cri-'));
  sandbox = await startCriSandbox({ socket: join(folder, 'cri.sock') });
  runtime = criRuntime({ socket: sandbox.socket, deadlineMs: 120_000 });
});

afterEach(() => {
  runtime.close();
  sandbox.stop();
  rmSync(folder, { recursive: true });
});

/** A client of its own, closed after the test. */
function client(options: Partial<Parameters<typeof criRuntime>[0]> = {}): ContainerRuntime {
  const made = criRuntime({ socket: sandbox.socket, ...options });
  onTestFinished(() => made.close());
  return made;
}

/** A socket file without a listener, as a killed process leaves it. */
async function abandonedSocket(): Promise<string> {
  const [born, left] = [join(folder, 'born.sock'), join(folder, 'left.sock')];
  const server = createServer().listen(born);
  await once(server, 'listening');
  renameSync(born, left);
  server.close();
  await once(server, 'close');
  return left;
}

describe('a socket without a runtime', () => {
  test('that is missing is reported each time, without delay', async () => {
    const away = client({ socket: join(folder, 'none.sock') });
    const startedAtMs = performance.now();
    for (const round of ['first', 'second', 'third']) {
      await expect(away.listImages(signal), round).rejects.toMatchObject({
        failure: 'unavailable',
        message: `ListImages: the container runtime's socket ${folder}/none.sock is missing`,
      });
    }
    expect(performance.now() - startedAtMs).toBeLessThan(3000);
  });

  test('that was left behind refuses connections', async () => {
    const socket = await abandonedSocket();
    const away = client({ socket });
    await expect(away.version(signal)).rejects.toMatchObject({
      failure: 'unavailable',
      message: `Version: the container runtime's socket ${socket} refuses connections: nothing listens there`,
    });
  });
});

describe('finding the socket', () => {
  test.each(['unix:///run/x.sock', '/run/x.sock'])(
    "uses the user's %s without a test",
    async (configured) => {
      const search = { configured, servesCri: () => Promise.reject(new Error('tested')) };
      expect(await findSocket(search, signal)).toBe('/run/x.sock');
    },
  );

  test.each(['run/x.sock', 'unix://run/x.sock', 'tcp://127.0.0.1:1'])("'%s' is not a socket", (value) => {
    expect(() => socketPath(value)).toThrow(`'${value}' is not a socket: use unix:///path or /path`);
  });

  test('without a socket, the error lists the searched places', async () => {
    const places = [join(folder, 'a.sock'), join(folder, 'plain')];
    writeFileSync(join(folder, 'plain'), '');
    await expect(findSocket({ places, servesCri }, signal)).rejects.toThrow(
      `no container runtime's socket found; searched ${places.join(', ')}`,
    );
  });

  test('a slow boot decides nothing: the next search finds the socket that speaks CRI by then', async () => {
    const other = await startCriSandbox({ socket: join(folder, 'other.sock') });
    for (const one of [other, sandbox])
      one.faults.next('Version', { kind: 'fail', code: status.UNAVAILABLE });
    const places = [await abandonedSocket(), other.socket, sandbox.socket];
    await expect(findSocket({ places, servesCri }, signal)).rejects.toThrow('no container runtime responds');
    other.faults.next('Version', { kind: 'fail', code: status.UNIMPLEMENTED, message: 'unknown service' });
    expect(await findSocket({ places, servesCri }, signal)).toBe(sandbox.socket);
    other.stop();
  });

  test('an abort ends the search, with its reason', async () => {
    const reason = new Error('stopping');
    await expect(servesCri(sandbox.socket, AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});

describe('answers', () => {
  test('NOT_FOUND on a removal means removed', async () => {
    sandbox.faults.next('*', { kind: 'fail', code: status.NOT_FOUND }, 5);
    await runtime.removeImage('a', signal);
    await runtime.removeContainer('a', signal);
    await runtime.removeSandbox('a', signal);
    await runtime.stopContainer('a', 0, signal);
    expect(await runtime.imageStatus('a', signal)).toBeUndefined();
  });

  test('a container that another client removes at the same time is gone', async () => {
    const message = 'failed to set removing state for container "a": container is already in removing state';
    sandbox.faults.next('RemoveContainer', { kind: 'fail', code: status.UNKNOWN, message });
    expect(await runtime.removeContainer('a', signal)).toBe('gone');
    sandbox.faults.next('RemoveContainer', { kind: 'fail', code: status.UNKNOWN, message: 'device is busy' });
    await expect(runtime.removeContainer('a', signal)).rejects.toThrow('device is busy');
  });

  test("any other failure names the call, the socket and the runtime's message", async () => {
    sandbox.faults.next('RemoveImage', { kind: 'fail', code: status.UNKNOWN, message: 'image is\n  in use' });
    await expect(runtime.removeImage('a', signal)).rejects.toMatchObject({
      failure: 'other',
      message: `RemoveImage: the container runtime at ${sandbox.socket} failed (UNKNOWN): image is in use`,
    });
    sandbox.faults.next('RemoveImage', { kind: 'fail', code: status.PERMISSION_DENIED });
    await expect(runtime.removeImage('a', signal)).rejects.toMatchObject({ failure: 'denied' });
  });

  test('unknown states of a newer runtime protect the object', async () => {
    const { sandbox: pod, containers } = sandbox.runtime.runPod({ name: 'a' });
    const change = (answer: unknown): unknown => {
      const unknown = (objects?: object[]) => objects?.map((one) => ({ ...one, state: 9 }));
      const { items, containers: listed } = answer as { items?: object[]; containers?: object[] };
      return { items: unknown(items), containers: unknown(listed) };
    };
    sandbox.faults.next('*', { kind: 'answer', change }, 2);
    expect(await runtime.listSandboxes(signal)).toMatchObject([{ id: pod.id, state: 'Ready' }]);
    expect(await runtime.listContainers(signal)).toMatchObject([{ id: containers[0]?.id, state: 'Unknown' }]);
  });

  test('a response without its status is an error, not an absence', async () => {
    const { containers } = sandbox.runtime.runPod({ name: 'a' });
    sandbox.faults.next('ContainerStatus', { kind: 'answer', change: () => ({}) });
    await expect(runtime.containerStatus(containers[0]?.id ?? '', signal)).rejects.toMatchObject({
      failure: 'other',
      message: expect.stringContaining('a response without a status') as string,
    });
  });

  test('a size beyond 2^53 is unknown, and costs no other image', async () => {
    sandbox.runtime.addImage({ tags: ['a'] });
    const size = String(2n ** 60n);
    const change = (answer: unknown): unknown => ({
      images: (answer as { images: readonly object[] }).images.map((image) => ({ ...image, size })),
    });
    sandbox.faults.next('ListImages', { kind: 'answer', change });
    const images = await runtime.listImages(signal);
    expect(images).toMatchObject([{ tags: ['docker.io/library/a:latest'], sizeBytes: 0 }]);
  });

  test('responses of 28 MiB are read; more than 32 MiB is an error', async () => {
    for (let i = 0; i < 28; i += 1) sandbox.runtime.addImage({ digests: ['x'.repeat(2 ** 20)] });
    expect(await runtime.listImages(signal)).toHaveLength(28);
    for (let i = 0; i < 5; i += 1) sandbox.runtime.addImage({ digests: ['x'.repeat(2 ** 20)] });
    await expect(runtime.listImages(signal)).rejects.toMatchObject({
      failure: 'other',
      message: expect.stringContaining('RESOURCE_EXHAUSTED') as string,
    });
  });
});

test.each([false, true])(
  'more than 20 000 ids and names of images are an error, streamed: %j: they need more memory than the agent has',
  async (streams) => {
    sandbox.stop();
    sandbox = await startCriSandbox({ socket: sandbox.socket, streams });
    for (let i = 0; i < 9_990; i += 1) sandbox.runtime.addImage({ id: `${i}`, digests: [`a@${i}`] });
    const { length } = await runtime.listImages(signal);
    expect(length).toBeGreaterThanOrEqual(9_990);
    for (let i = 0; i < 20; i += 1) sandbox.runtime.addImage({ id: `x${i}`, digests: [`a@x${i}`] });
    await expect(runtime.listImages(signal)).rejects.toMatchObject({
      failure: 'other',
      message: expect.stringContaining('more than 20000 ids and names of images') as string,
    });
  },
);

describe('a runtime that streams its lists', () => {
  beforeEach(async () => {
    sandbox.stop();
    sandbox = await startCriSandbox({ socket: sandbox.socket, streams: true });
  });

  test('streams each list, with cut texts', async () => {
    for (let i = 0; i < 25; i += 1) sandbox.runtime.runPod({ name: 'x'.repeat(10_000) });
    const sandboxes = await runtime.listSandboxes(signal);
    expect(sandboxes).toHaveLength(25);
    expect(sandboxes.every(({ podName }) => isCut(podName))).toBe(true);
    expect(await runtime.listContainers(signal)).toHaveLength(25);
    expect(await runtime.containerStats(signal)).toHaveLength(25);
    expect(sandbox.calls.map(({ method }) => method)).toEqual([
      'StreamPodSandboxes',
      'StreamContainers',
      'StreamContainerStats',
    ]);
  });

  test('a stream that breaks off is a failed call, not a shorter list', async () => {
    for (let i = 0; i < 30; i += 1) sandbox.runtime.addImage({ tags: [`a:${i}`] });
    sandbox.faults.next('StreamImages', {
      kind: 'answer',
      change: function* (messages) {
        const [first] = messages as Iterable<unknown>;
        yield first;
        throw new SimError(status.INTERNAL, 'broken off');
      },
    });
    await expect(runtime.listImages(signal)).rejects.toMatchObject({
      failure: 'other',
      message: expect.stringMatching(/^ListImages: .*broken off/) as string,
    });
    expect(await runtime.listImages(signal)).toHaveLength(30);
  });
});

test("every finished call is counted under the kubelet's name for it", async () => {
  const calls: object[] = [];
  const counted = client({ onCall: ({ operation, ok }) => calls.push([operation, ok]) });
  sandbox.faults.next('RemoveImage', { kind: 'fail', code: status.INTERNAL, message: 'refused' });
  await counted.fileSystems(signal);
  await counted.removeContainer('a', signal);
  await counted.listSandboxes(signal);
  await expect(counted.removeImage('a', signal)).rejects.toThrow('refused');
  await expect(counted.listImages(AbortSignal.abort(new Error('stopping')))).rejects.toThrow('stopping');
  const ended = [
    ['image_fs_info', true],
    ['remove_container', true],
    ['list_podsandbox', true],
  ];
  expect(calls).toEqual([...ended, ['remove_image', false], ['list_images', false]]);
});

describe('waiting', () => {
  test("a stop waits for the container's grace on top of the deadline", async () => {
    const hasty = client({ deadlineMs: 100 });
    sandbox.faults.next('*', { kind: 'delay', ms: 400 }, 2);
    await hasty.stopContainer('a', 2, signal);
    expect(sandbox.calls).toMatchObject([{ method: 'StopContainer', request: { timeout: '2' } }]);
    await expect(hasty.removeContainer('a', signal)).rejects.toMatchObject({ failure: 'deadline' });
  });

  test('a status has a deadline of its own', async () => {
    const hasty = client({ statusDeadlineMs: 100 });
    sandbox.faults.next('*', { kind: 'delay', ms: 400 }, 2);
    await expect(hasty.version(signal)).rejects.toMatchObject({ failure: 'deadline' });
    expect(await hasty.listImages(signal)).toEqual([]);
  });

  test('an aborted signal sends no request', async () => {
    await expect(runtime.removeImage('a', AbortSignal.abort('over'))).rejects.toBe('over');
    expect(sandbox.calls).toEqual([]);
  });
});
