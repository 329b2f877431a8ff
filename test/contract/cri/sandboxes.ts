import { describe, expect, test } from 'vitest';
import { nobody } from './environment.ts';
import type { CriScene } from './environment.ts';

/** What dustpan relies on about pod sandboxes. */
export function sandboxSuite(scene: () => CriScene): void {
  const { signal } = new AbortController();

  describe('sandboxes', () => {
    test('a stop ends its containers and leaves them; a removal takes them along', async () => {
      const { sandboxId, containerId } = await scene().pod('sandbox');
      await scene().kubelet.start(containerId);
      expect(await scene().runtime.sandboxStatus(sandboxId, signal)).toEqual({
        id: sandboxId,
        state: 'Ready',
      });
      await scene().runtime.stopSandbox(sandboxId, signal);
      expect(await scene().sandbox(sandboxId)).toMatchObject({ state: 'NotReady' });
      expect(await scene().runtime.sandboxStatus(sandboxId, signal)).toEqual({
        id: sandboxId,
        state: 'NotReady',
      });
      expect((await scene().container(containerId))?.state).toBe('Exited');
      await scene().runtime.removeSandbox(sandboxId, signal);
      expect(await scene().sandbox(sandboxId)).toBeUndefined();
      expect(await scene().container(containerId)).toBeUndefined();
      expect(await scene().runtime.containerStatus(containerId, signal)).toBeUndefined();
    });

    test('the runtime removes a ready sandbox with what runs in it: nothing but our own checks protects it', async () => {
      const { sandboxId, containerId } = await scene().pod('ready');
      await scene().kubelet.start(containerId);
      await scene().runtime.removeSandbox(sandboxId, signal);
      expect(await scene().sandbox(sandboxId)).toBeUndefined();
      expect(await scene().container(containerId)).toBeUndefined();
    });

    test('attempts of one pod stand side by side; the same attempt twice is refused', async () => {
      const first = await scene().kubelet.runPod({ name: 'attempts' });
      await scene().runtime.stopSandbox(first, signal);
      const second = await scene().kubelet.runPod({ name: 'attempts', attempt: 1 });
      expect(await scene().sandbox(first)).toMatchObject({ attempt: 0, state: 'NotReady' });
      expect(await scene().sandbox(second)).toMatchObject({ attempt: 1, state: 'Ready' });
      await expect(scene().kubelet.runPod({ name: 'attempts', attempt: 1 })).rejects.toThrow(
        'is reserved for',
      );
      await scene().runtime.removeSandbox(first, signal);
      await scene().runtime.removeSandbox(second, signal);
    });

    test('a sandbox that is not there has no status, and its stop and removal succeed', async () => {
      expect(await scene().runtime.sandboxStatus(nobody, signal)).toBeUndefined();
      await scene().runtime.stopSandbox(nobody, signal);
      await scene().runtime.removeSandbox(nobody, signal);
    });
  });
}
