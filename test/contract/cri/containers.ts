import { existsSync, readFileSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { soonMeasured, noImage, nobody } from './environment.ts';
import type { CriEnvironment } from './environment.ts';

/** Behaviour of containers that dustpan relies on. */
export function containerSuite(environment: CriEnvironment): void {
  const { runtime, kubelet, target, app, signal } = environment;

  test('a container changes from Created to Running to Exited, and keeps its creation time to the nanosecond', async () => {
    const before = BigInt(Date.now()) * 1_000_000n;
    const { sandboxId, containerId } = await environment.pod('life', { script: 'sleep 100000', attempt: 3 });
    const created = await environment.container(containerId);
    expect(created).toMatchObject({
      id: containerId,
      sandboxId,
      name: 'main',
      attempt: 3,
      ...environment.imageOf(app),
      state: 'Created',
    });
    expect(created?.createdAtNs).toBeGreaterThanOrEqual(before);
    expect(created?.createdAtNs).toBeLessThan(BigInt(Date.now() + 1000) * 1_000_000n);
    await kubelet.start(containerId);
    expect((await environment.container(containerId))?.state).toBe('Running');
    expect(await runtime.containerStatus(containerId, signal)).toMatchObject({
      state: 'Running',
      finishedAtNs: 0n,
    });
    await runtime.stopContainer(containerId, 0, signal);
    const status = await runtime.containerStatus(containerId, signal);
    expect(status).toMatchObject({ id: containerId, state: 'Exited', exitCode: 137, mountedImages: [] });
    expect(status?.finishedAtNs).toBeGreaterThan(created?.createdAtNs ?? 0n);
    expect((await environment.container(containerId))?.createdAtNs).toBe(created?.createdAtNs);
    await runtime.removeContainer(containerId, signal);
    expect(await environment.container(containerId)).toBeUndefined();
  });

  test('creation times have more digits than a double holds', async () => {
    const { sandboxId, containerId } = await environment.pod('exact');
    const sandboxNs = (await environment.sandbox(sandboxId))?.createdAtNs ?? 0n;
    const containerNs = (await environment.container(containerId))?.createdAtNs ?? 0n;
    expect([sandboxNs, containerNs].some((ns) => BigInt(Number(ns)) !== ns)).toBe(true);
    expect(containerNs).toBeGreaterThan(sandboxNs);
  });

  test('a finished program leaves its exit code and its log', async () => {
    const { sandboxId, containerId } = await environment.pod('ends', { script: 'echo hello; exit 3' });
    await kubelet.start(containerId);
    await environment.reaches(containerId, 'Exited');
    const status = await runtime.containerStatus(containerId, signal);
    expect(status).toMatchObject({
      exitCode: 3,
      logPath: `${target.logRoot}/default_ends_uid-of-ends/main/0.log`,
    });
    expect(readFileSync(status?.logPath ?? '', 'utf8')).toMatch(/^\S+ stdout F hello\n$/);
    await runtime.removeSandbox(sandboxId, signal);
    expect(existsSync(status?.logPath ?? '')).toBe(true);
  });

  test('known labels and annotations are returned unchanged, others are dropped', async () => {
    const { sandboxId, containerId } = await environment.pod('labels');
    const container = await environment.container(containerId);
    expect(container).toMatchObject({
      labels: { 'io.kubernetes.container.name': 'main' },
      annotations: { 'io.kubernetes.container.restartCount': '0' },
    });
    expect(container?.labels).not.toHaveProperty('unusual');
    const sandbox = await environment.sandbox(sandboxId);
    expect(sandbox).toMatchObject({
      podName: 'labels',
      podNamespace: 'default',
      podUid: 'uid-of-labels',
      attempt: 0,
      labels: { 'io.kubernetes.pod.name': 'labels' },
      annotations: { 'kubernetes.io/config.source': 'api' },
      runtimeHandler: '',
    });
    expect(sandbox?.labels).not.toHaveProperty('unusual');
  });

  test('attempts of one name coexist', async () => {
    const { sandboxId, containerId } = await environment.pod('again', { script: 'exit 1' });
    await kubelet.start(containerId);
    await environment.reaches(containerId, 'Exited');
    const second = await kubelet.create({ name: 'again' }, sandboxId, {
      name: 'main',
      image: app.id,
      attempt: 1,
    });
    const attempts = (await runtime.listContainers(signal)).filter((one) => one.sandboxId === sandboxId);
    expect(new Map(attempts.map(({ id, attempt }) => [id, attempt]))).toEqual(
      new Map([
        [containerId, 0],
        [second, 1],
      ]),
    );
  });

  test('the runtime removes a running container by force: only our own checks protect it', async () => {
    const { sandboxId, containerId } = await environment.pod('forced');
    await kubelet.start(containerId);
    await runtime.removeContainer(containerId, signal);
    expect(await environment.container(containerId)).toBeUndefined();
    expect(await environment.sandbox(sandboxId)).toMatchObject({ state: 'Ready' });
  });

  test('a missing container has no status, and its stop and removal succeed', async () => {
    expect(await runtime.containerStatus(nobody, signal)).toBeUndefined();
    await runtime.stopContainer(nobody, 0, signal);
    await runtime.removeContainer(nobody, signal);
  });

  test('a container cannot be created from a removed image', async () => {
    const sandboxId = await kubelet.runPod({ name: 'imageless' });
    onTestFinished(() => runtime.removeSandbox(sandboxId, signal));
    const failed = kubelet.create({ name: 'imageless' }, sandboxId, { name: 'main', image: noImage });
    await expect(failed).rejects.toThrow(noImage);
  });

  test('every container has statistics by id, also an exited one', async () => {
    const { sandboxId, containerId } = await environment.pod('stats');
    await kubelet.start(containerId);
    await vi.waitFor(async () => {
      const stats = (await runtime.containerStats(signal)).find(({ id }) => id === containerId);
      expect(stats?.labels).toMatchObject({ 'io.kubernetes.container.name': 'main' });
      expect(stats?.writableLayerBytes).toBeTypeOf('number');
    }, soonMeasured);
    const idle = await kubelet.create({ name: 'stats' }, sandboxId, { name: 'idle', image: app.id });
    await runtime.stopContainer(containerId, 0, signal);
    const ids = (await runtime.containerStats(signal)).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining([containerId, idle]));
  });
}
