import { describe, expect, test } from 'vitest';
import type { Marks } from '../../../../src/node/disk/marks-format.ts';
import type { StateReading } from '../../../../src/node/disk/state-file.ts';
import { container, emptyDir, storagePod, usage } from '../localstorage/builders.ts';
import { gib } from '../report/builders.ts';
import { node } from './environment.ts';

const never = new AbortController().signal;
const minuteMs = 60_000;

describe('high-water marks', () => {
  const storage = { containers: [container('main', '4Gi')], emptyDirs: [emptyDir('data', '8Gi')] };
  const web = { workload: { kind: 'Deployment', name: 'web' } };
  const node7 = (file: MarksFile, layer: number) =>
    node({
      marks: file,
      pods: () => [storagePod('web-1', storage, web), storagePod('idle')],
      kubelet: () =>
        Promise.resolve(
          usage({
            'web-1': { volumes: { data: 1024 }, containers: { main: { layer, logs: 0 } } },
            idle: { containers: { main: { layer: 1, logs: 0 } } },
          }),
        ),
    });

  /** Holds what was written last; throws while it is full. */
  class MarksFile {
    marks: Marks | undefined;
    isFull = false;
    readonly reason: string | undefined;
    constructor(reason?: string) {
      this.reason = reason;
    }
    read(): Promise<StateReading<Marks>> {
      if (this.reason !== undefined) return Promise.resolve({ kind: 'startOver', reason: this.reason });
      return Promise.resolve(
        this.marks === undefined ? { kind: 'missing' } : { kind: 'read', state: this.marks },
      );
    }
    write(marks: Marks): Promise<void> {
      if (this.isFull) return Promise.reject(new Error('no space'));
      this.marks = marks;
      return Promise.resolve();
    }
  }

  test('are reported for workloads that stand out, beside the present usage', async () => {
    const { workloads, otherWorkloads } = await node7(new MarksFile(), 2048).measure();
    expect(workloads).toEqual([
      {
        ...{ namespace: 'web', kind: 'Deployment', name: 'web', pods: 1, bytes: 3 * gib },
        ...{ highestBytes: 3 * gib, highestPod: 'web-1', watchedSeconds: 0, limitBytes: 4 * gib },
        parts: [
          { kind: 'container', name: 'main', highestBytes: 2 * gib, limitBytes: 4 * gib },
          { kind: 'volume', name: 'data', highestBytes: gib, limitBytes: 8 * gib },
        ],
      },
    ]);
    expect(otherWorkloads).toEqual({ count: 1, highestBytes: gib / 1024 });
  });

  test('survive a restart of the agent', async () => {
    const file = new MarksFile();
    const before = node7(file, 2048);
    await before.during(5, () => undefined);
    expect(file.marks).toBeUndefined();
    await before.manager.saveMarks(never);
    const { workloads } = await node7(file, 1).measure();
    expect(workloads?.[0]).toMatchObject({
      highestBytes: 3 * gib,
      bytes: gib + gib / 1024,
      watchedSeconds: 240,
    });
  });

  test('are written every five minutes', async () => {
    const file = new MarksFile();
    await node7(file, 2048).during(6, () => undefined);
    expect(file.marks).toMatchObject({ observedMs: 5 * minuteMs });
  });

  test('that cannot be written are named until they are; those that cannot be read start over', async () => {
    const file = new MarksFile('is cut');
    file.isFull = true;
    const { during, log, manager } = node7(file, 2048);
    const { unknown } = await during(7, () => undefined);
    expect(unknown).toBe('high-water marks after a restart of the agent: no space');
    expect(log.lines.map(({ message }) => message)).toEqual([
      'high-water marks cannot be used, starting over',
      'writing high-water marks failed',
    ]);
    file.isFull = false;
    await manager.saveMarks(never);
    expect((await during(1, () => undefined)).unknown).toBeUndefined();
  });

  test('of a node whose kubelet is not known are those of before; what is used now is unknown', async () => {
    const file = new MarksFile();
    const before = node7(file, 2048);
    await before.measure();
    await before.manager.saveMarks(never);
    const kubelet = () => Promise.reject(new Error('refused'));
    const { workloads } = await node({ marks: file, kubelet, pods: () => undefined }).measure();
    expect(workloads?.[0]).toMatchObject({ name: 'web', highestBytes: 3 * gib });
    expect(workloads?.[0]).not.toHaveProperty('bytes');
    const gone = await node({ marks: file }).measure();
    expect(gone.workloads?.[0]).toMatchObject({ pods: 0, bytes: 0 });
  });

  test('of a workload whose pods run, but are not measured: what is used now is unknown', async () => {
    const file = new MarksFile();
    const before = node7(file, 2048);
    await before.measure();
    await before.manager.saveMarks(never);
    const kubelet = () => Promise.resolve(usage({ idle: { containers: { main: { layer: 1, logs: 0 } } } }));
    const pods = () => [storagePod('web-2', storage, web), storagePod('idle')];
    const { workloads } = await node({ marks: file, kubelet, pods }).measure();
    expect(workloads?.[0]).toMatchObject({ name: 'web', highestBytes: 3 * gib });
    expect(workloads?.[0]).not.toHaveProperty('pods');
    expect(workloads?.[0]).not.toHaveProperty('bytes');
  });

  test('the time of watching is that of the node; unknown while a running pod has no marks', async () => {
    let isMeasured = false;
    const layer = { containers: { main: { layer: 1, logs: 0 } } };
    const kubelet = () =>
      Promise.resolve(usage(isMeasured ? { 'web-1': layer, idle: layer } : { idle: layer }));
    const pods = () => [storagePod('web-1', storage, web), storagePod('idle')];
    const { during, measure } = node({ kubelet, pods });
    const first = await measure();
    expect(first.watchedSeconds).toBe(0);
    const second = await during(1, () => undefined);
    expect(second.otherWorkloads).toEqual({ count: 1, highestBytes: gib / 1024 });
    expect(second).not.toHaveProperty('watchedSeconds');
    isMeasured = true;
    const third = await during(1, () => undefined);
    expect(third.watchedSeconds).toBeGreaterThan(0);
    isMeasured = false;
    await during(1, () => undefined);
    expect((await during(1, () => undefined)).watchedSeconds).toBeGreaterThan(0);
  });

  test('before a first measurement there is nothing to write', async () => {
    const file = new MarksFile();
    await node7(file, 1).manager.saveMarks(never);
    expect(file.marks).toBeUndefined();
  });

  test('parts that are not listed are counted, and a pod that is measured in part is a lower bound', async () => {
    const containers = Array.from({ length: 18 }, (_, i) => container(`c${i}`));
    const kubelet = () => Promise.resolve(usage({ 'web-1': { containers: { c0: { layer: 2048 } } } }));
    const pods = () => [storagePod('web-1', { containers }, web)];
    const { workloads } = await node({ kubelet, pods }).measure();
    expect(workloads?.[0]).toMatchObject({ otherParts: 2, lowerBound: true, highestBytes: 2 * gib });
    expect(workloads?.[0]?.parts?.[0]).toEqual({ kind: 'container', name: 'c0' });
  });

  test('growth is that of all pods of the workload', async () => {
    let layer = 0;
    const kubelet = () => Promise.resolve(usage({ 'web-1': { containers: { main: { layer, logs: 0 } } } }));
    const pods = () => [storagePod('web-1', { containers: [container('main')] }, web)];
    const { workloads } = await node({ kubelet, pods }).during(8, (i) => {
      layer = 1024 + 10 * i;
    });
    expect(workloads?.[0]?.growthBytesPerHour).toBe((600 * gib) / 1024);
  });
});
