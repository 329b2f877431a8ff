import { expect, test, vi } from 'vitest';
import { criRuntime } from '../../../src/cri/client.ts';
import { RuntimeError } from '../../../src/cri/runtime.ts';
import type { CriEnvironment } from './environment.ts';
import { soon } from '../project.ts';

/** Behaviour of an unavailable or hanging runtime that dustpan relies on. */
export function faultSuite(environment: CriEnvironment): void {
  const { runtime, kubelet, target, signal } = environment;

  test('calls to a hanging runtime exceed their deadline, on open and new connections, and succeed once it resumes', async () => {
    const open = criRuntime({ socket: target.socket, deadlineMs: 500, statusDeadlineMs: 300 });
    const fresh = criRuntime({ socket: target.socket, deadlineMs: 500, statusDeadlineMs: 300 });
    await vi.waitFor(() => open.version(signal), soon);
    await target.pause();
    const line = /^ListImages: the container runtime at \S+ did not respond within 0\.5 s$/;
    for (const one of [open, fresh]) {
      const failed = one.listImages(signal);
      await expect(failed).rejects.toThrow(RuntimeError);
      await expect(failed).rejects.toMatchObject({
        failure: 'deadline',
        message: expect.stringMatching(line) as string,
      });
    }
    await expect(fresh.version(signal)).rejects.toMatchObject({ failure: 'deadline' });
    await target.resume();
    for (const one of [open, fresh]) {
      await vi.waitFor(() => one.version(signal), soon);
      one.close();
    }
  });

  test('an abort ends a call at once with the reason of the signal, not with a runtime error', async () => {
    await target.pause();
    const stop = new AbortController();
    const call = runtime.listContainers(stop.signal);
    const reason = new Error('enough');
    stop.abort(reason);
    await expect(call).rejects.toBe(reason);
    await expect(runtime.listContainers(stop.signal)).rejects.toBe(reason);
    await target.resume();
    await vi.waitFor(() => runtime.version(signal), soon);
  });

  test('a killed runtime is unavailable at once; after its restart its containers and our connection are back', async () => {
    const { containerId } = await environment.pod('survives');
    await kubelet.start(containerId);
    const before = await environment.container(containerId);
    await target.kill();
    for (const attempt of ['first', 'second']) {
      await expect(runtime.listImages(signal), attempt).rejects.toMatchObject({
        failure: 'unavailable',
        message: expect.stringContaining(target.socket) as string,
      });
    }
    await target.start();
    const backAtMs = performance.now();
    await vi.waitFor(() => runtime.version(signal), soon);
    expect(performance.now() - backAtMs).toBeLessThan(10_000);
    expect(await environment.container(containerId)).toEqual(before);
  });

  test('a call under way when the runtime dies fails as unavailable', async () => {
    await runtime.version(signal);
    await target.pause();
    const call = runtime.listImages(signal);
    const seen = expect(call).rejects.toMatchObject({ failure: 'unavailable' });
    await target.kill();
    await seen;
    await target.start();
    await vi.waitFor(() => runtime.version(signal), soon);
  });
}
