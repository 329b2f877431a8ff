import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCriSandbox } from '../../sandbox/cri/server.ts';
import type { RuntimeUnderTest } from './kubelet-side.ts';

/** Starts the sandbox of the container runtime interface. */
export async function startRuntimeSandbox(): Promise<RuntimeUnderTest> {
  const folder = mkdtempSync(join(tmpdir(), 'dustpan-cri-'));
  const sandbox = await startCriSandbox({ socket: join(folder, 'cri.sock'), streams: true });
  const { runtime, faults } = sandbox;
  runtime.addImage({ tags: ['bed.test/pause:1'], pinned: true });
  return {
    socket: sandbox.socket,
    logRoot: join(folder, 'pods'),
    image: (tags) => Promise.resolve(runtime.addImage({ tags })),
    push: () => Promise.reject(new Error('the sandbox pulls nothing')),
    pause: () => {
      faults.next('*', { kind: 'hang' }, Infinity);
      return Promise.resolve();
    },
    resume: () => {
      faults.clear();
      return Promise.resolve();
    },
    kill: () => {
      sandbox.down();
      faults.clear();
      return Promise.resolve();
    },
    start: () => sandbox.up(),
    stop: () => {
      sandbox.stop();
      rmSync(folder, { recursive: true });
      return Promise.resolve();
    },
  };
}
