import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test as sequential } from 'vitest';
import { until } from '../built.ts';
import { everythingBut } from '../rights.ts';
import { ControllerEnvironment, fillCluster, policy } from './environment.ts';

// They wait for starts and passes, each in an environment of its own.
const test = sequential.concurrent;

/** Five due pods, and a user who lacks a right. */
async function withoutRight(
  verb: string,
  resource: string,
  isMissing?: () => boolean,
): Promise<ControllerEnvironment> {
  const bed = await ControllerEnvironment.open({ ...everythingBut(verb, resource, isMissing), pods: 5 });
  bed.api.store.apply(policy('Enforce'));
  return bed;
}

test.for(['pods', 'nodes', 'namespaces', 'gcpolicies'])(
  'without the right to list %s: one line names it and its remedy, nothing deleted until it is granted',
  async (resource) => {
    let isMissing = true;
    await using bed = await withoutRight('list', resource, () => isMissing);
    const controller = bed.start(bed.api.kubeconfigOf('dustpan'));
    await until('it is reviewed', () => controller.messages.includes('rights are missing'));
    await until('it is refused', () => controller.messages.includes('list or watch failed'));
    const refused = controller.lines.filter(({ msg }) => msg === 'list or watch failed');
    expect(refused).toHaveLength(1);
    expect(refused[0]?.['err']).toMatch(
      new RegExp(`cannot list resource "${resource}".*; grant it to this user or service account$`),
    );
    // No request only checks a right.
    expect(bed.api.requests.filter(({ query }) => query.get('limit') === '1')).toEqual([]);
    expect(bed.podCount).toBe(5);
    isMissing = false;
    await until('all collected', () => bed.podCount === 0);
  },
);

test('unknown credentials: it says so, waits and deletes nothing', async () => {
  await using bed = await ControllerEnvironment.open();
  const { kubeconfigFile, token } = bed.api;
  writeFileSync(`${kubeconfigFile}.wrong`, readFileSync(kubeconfigFile, 'utf8').replaceAll(token, 'unknown'));
  const controller = bed.start(`${kubeconfigFile}.wrong`);
  await until('it is logged', () => controller.stdout.includes('does not accept the credentials'));
  expect(controller.isRunning).toBe(true);
});

test('without the right to delete pods: one error, Degraded, the pods wait, the process lives', async () => {
  await using bed = await withoutRight('delete', 'pods');
  const controller = bed.start(bed.api.kubeconfigOf('dustpan'));
  // The first pass or the first review of the rights, whichever ends first; after the review the right is named.
  await until('degraded', () => /^True (DeletesFailed|MissingRights)$/.test(bed.condition('Degraded') ?? ''));
  await until('the deletions have failed', () => controller.stdout.includes('cannot delete resource'));
  expect(controller.stdout).toContain('cannot delete resource \\"pods\\"');
  // None is tried again for 20 s, whatever passes follow.
  await controller.passes('podgc', 2);
  expect(controller.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  expect(bed.writes).toHaveLength(5);
  expect(bed.podCount).toBe(5);
  expect(controller.isRunning).toBe(true);
  expect(controller.stdout).not.toContain('    at ');
});

test('a right that is lost while it runs: the first refused deletion shows it', async () => {
  let isMissing = false;
  await using bed = await ControllerEnvironment.open(everythingBut('delete', 'pods', () => isMissing));
  bed.api.store.apply(policy('Enforce'));
  bed.start(bed.api.kubeconfigOf('dustpan'));
  await until('it is reviewed', () => bed.condition('Ready')?.startsWith('True') === true);
  isMissing = true;
  fillCluster(bed.api, 1);
  // At rest the next review would be minutes away.
  await until('it is shown', () => bed.condition('Degraded') === 'True MissingRights');
  expect(bed.podCount).toBe(1);
});

test('without the right to list node reports: logged, and pods are still collected', async () => {
  await using bed = await withoutRight('list', 'nodegcreports');
  const controller = bed.start(bed.api.kubeconfigOf('dustpan'));
  await until('all collected', () => bed.podCount === 0);
  expect(controller.isRunning).toBe(true);
  expect(controller.stdout).toContain('cannot list resource \\"nodegcreports\\"');
});

test('waits for missing CRDs and for a policy, and logs both; then it works', async () => {
  await using bed = await ControllerEnvironment.open({ crds: false, pods: 5 });
  const controller = bed.start();
  await until('it is logged', () => controller.messages.includes('kind is not installed, waiting for it'));
  await controller.passes('podgc', 1);
  expect(bed.podCount).toBe(5);
  await bed.api.installCrds();
  await until('it is logged', () => controller.messages.includes('no GCPolicy exists, nothing is collected'));
  await controller.passes('podgc', 1);
  expect(await controller.sample('dustpan_kept_objects{unit="podgc",reason="NoPolicy"}')).toBe(5);
  expect(bed.podCount).toBe(5);
  bed.api.store.apply(policy('Enforce'));
  await until('all collected', () => bed.podCount === 0);
});
