import { expect, test as sequential } from 'vitest';
import { policyManifest } from '../../manifests.ts';
import { type LogLine, until } from '../built.ts';
import { ControllerEnvironment, podOn, policy } from './environment.ts';

// They wait for passes, each in an environment of its own.
const test = sequential.concurrent;

/** The requests of a pass in flight at most (docs/reliability.md). */
const inFlight = 32;
const pods = 100;

/** Holds the first deletions of a pass, as many as it sends without a response; the returned function releases them. */
function holdDeletions({ api }: ControllerEnvironment): () => void {
  let release: () => void = () => undefined;
  const until = new Promise<void>((resolve) => (release = resolve));
  api.faults.next(({ method }) => method === 'DELETE', { kind: 'hold', until }, inFlight);
  return release;
}

test('DryRun sends no request that writes to a pod; Enforce then collects', async () => {
  await using bed = await ControllerEnvironment.open({ pods: 30 });
  bed.api.store.apply(policy('DryRun'));
  const controller = bed.start();
  await until('a pass is in the status', () => bed.condition('Enforcing') === 'False ModeDryRun');
  await controller.passes('podgc', 1);
  expect(await controller.sample('dustpan_due_objects{unit="podgc",reason="Expired",mode="DryRun"}')).toBe(
    30,
  );
  expect(bed.writes).toEqual([]);
  bed.api.store.apply(policy('Enforce'));
  await until('all collected', () => bed.podCount === 0);
  await until('it is reported', () => bed.condition('Enforcing') === 'True ModeEnforce');
});

test('the report of a node decides about the remove list, and about patterns that match no image', async () => {
  await using bed = await ControllerEnvironment.open();
  const { store } = bed.api;
  const until1h = `${new Date(Date.now() + 3_600_000).toISOString().slice(0, 19)}Z`;
  const rules = { keep: ['base', 'ngnix'], remove: [{ image: 'app:1', until: until1h }] };
  store.apply(policyManifest('default', { mode: 'Enforce', nodes: { imageGC: rules } }));
  const { uid, generation } = store.get('GCPolicy', 'default')?.metadata ?? {};
  const report = (inUse: number, keep: readonly number[]): void => {
    const removeList = [{ image: 'app:1', matched: inUse > 0, inUse, untagged: 0, kept: 0 }];
    const unmatched = { keep, only: [], maximumAgeByImage: [] };
    store.apply({
      ...{ apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'NodeGCReport', metadata: { name: 'node-1' } },
      status: {
        reportTime: new Date().toISOString(),
        policy: { name: 'default', uid, observedGeneration: generation },
        images: { removeList, unmatched },
      },
    });
  };
  report(1, [1]);
  bed.start();
  await until('an image is left', () => bed.condition('ImagesRemoved') === 'False ImagesLeft');
  await until('a pattern is named', () => bed.condition('Accepted') === 'True SelectsNothing');
  report(0, []);
  await until('the image is removed', () => bed.condition('ImagesRemoved') === 'True Removed');
  await until('all patterns match', () => bed.condition('Accepted') === 'True Valid');
});

test('SIGTERM during a pass: the 32 requests in flight end, no other begins, the lease is released, exit 0', async () => {
  await using bed = await ControllerEnvironment.open({ pods });
  const release = holdDeletions(bed);
  bed.api.store.apply(policy('Enforce'));
  const controller = bed.start();
  await until('the pass waits for responses', () => bed.writes.length === inFlight);
  const ended = controller.stop();
  await until('it stops', () => controller.messages.includes('stopping controller'));
  expect(bed.holder).not.toBe('');
  release();
  expect(await ended).toBe(0);
  expect(bed.writes).toHaveLength(inFlight);
  expect(bed.podCount).toBe(pods - inFlight);
  expect(controller.timesLogged('deleted pod')).toBe(inFlight);
  expect(bed.holder).toBe('');
});

test('a policy that becomes DryRun during a pass stops it: the 32 requests in flight end, and no other begins', async () => {
  await using bed = await ControllerEnvironment.open({ pods });
  const release = holdDeletions(bed);
  bed.api.store.apply(policy('Enforce'));
  const controller = bed.start();
  await until('the pass waits for responses', () => bed.writes.length === inFlight);
  bed.api.store.apply(policy('DryRun'));
  const isSeen = ({ msg, change }: LogLine): boolean => msg === 'policies changed' && change === 'MODIFIED';
  await until('the controller knows', () => controller.lines.some(isSeen));
  release();
  await until('the pass has ended', () => controller.messages.includes('pass ended early'));
  const due = 'dustpan_due_objects{unit="podgc",reason="Expired",mode="DryRun"}';
  await until('the next pass has ended', async () => (await controller.sample(due)) === pods - inFlight);
  expect(bed.writes).toHaveLength(inFlight);
  expect(bed.podCount).toBe(pods - inFlight);
});

test('reads a label that a new policy selects by before any decision', async () => {
  await using bed = await ControllerEnvironment.open({ pods: 5 });
  const { store } = bed.api;
  const labelled = podOn('node-1', 'p0003', 'Succeeded');
  store.apply({ ...labelled, metadata: { ...labelled.metadata, labels: { app: 'x' } } });
  store.apply(policy('DryRun'));
  bed.start();
  await until('a pass is in the status', () => bed.condition('Enforcing') === 'False ModeDryRun');
  const without = { podSelector: { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] } };
  store.apply(policy('Enforce', { ...without, terminated: { ttlAfterFinished: '0s' } }));
  await until('the others are deleted', () => bed.podCount === 1);
  expect(store.get('Pod', 'p0003')).toBeDefined();
});
