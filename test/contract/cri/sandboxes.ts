import { expect, test } from 'vitest';
import { nobody } from './environment.ts';
import type { CriEnvironment } from './environment.ts';

/** Behaviour of pod sandboxes that dustpan relies on. */
export function sandboxSuite(environment: CriEnvironment): void {
  const { runtime, kubelet, signal } = environment;

  test('a stop ends the containers and keeps them; a removal removes them', async () => {
    const { sandboxId, containerId } = await environment.pod('sandbox');
    await kubelet.start(containerId);
    expect(await runtime.sandboxStatus(sandboxId, signal)).toEqual({ id: sandboxId, state: 'Ready' });
    await runtime.stopSandbox(sandboxId, signal);
    expect(await environment.sandbox(sandboxId)).toMatchObject({ state: 'NotReady' });
    expect(await runtime.sandboxStatus(sandboxId, signal)).toEqual({ id: sandboxId, state: 'NotReady' });
    expect((await environment.container(containerId))?.state).toBe('Exited');
    await runtime.removeSandbox(sandboxId, signal);
    expect(await environment.sandbox(sandboxId)).toBeUndefined();
    expect(await environment.container(containerId)).toBeUndefined();
    expect(await runtime.containerStatus(containerId, signal)).toBeUndefined();
  });

  test('the runtime removes a ready sandbox with its running containers: only our own checks protect it', async () => {
    const { sandboxId, containerId } = await environment.pod('ready');
    await kubelet.start(containerId);
    await runtime.removeSandbox(sandboxId, signal);
    expect(await environment.sandbox(sandboxId)).toBeUndefined();
    expect(await environment.container(containerId)).toBeUndefined();
  });

  test('attempts of one pod coexist; the same attempt twice is refused', async () => {
    const first = await kubelet.runPod({ name: 'attempts' });
    await runtime.stopSandbox(first, signal);
    const second = await kubelet.runPod({ name: 'attempts', attempt: 1 });
    expect(await environment.sandbox(first)).toMatchObject({ attempt: 0, state: 'NotReady' });
    expect(await environment.sandbox(second)).toMatchObject({ attempt: 1, state: 'Ready' });
    await expect(kubelet.runPod({ name: 'attempts', attempt: 1 })).rejects.toThrow('is reserved for');
    await runtime.removeSandbox(first, signal);
    await runtime.removeSandbox(second, signal);
  });

  test('a missing sandbox has no status, and its stop and removal succeed', async () => {
    expect(await runtime.sandboxStatus(nobody, signal)).toBeUndefined();
    await runtime.stopSandbox(nobody, signal);
    await runtime.removeSandbox(nobody, signal);
  });
}
