import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test as sequential } from 'vitest';
import { until } from '../built.ts';
import { everythingBut, expectOneLine } from '../rights.ts';
import { ControllerEnvironment, policy } from './environment.ts';

// They wait for starts and passes, each in an environment of its own.
const test = sequential.concurrent;

/** Five due pods, and a user who lacks a right. */
async function withoutRight(verb: string, resource: string): Promise<ControllerEnvironment> {
  const bed = await ControllerEnvironment.open({ ...everythingBut(verb, resource), pods: 5 });
  bed.api.store.apply(policy('Enforce'));
  return bed;
}

test.for(['pods', 'nodes', 'namespaces', 'gcpolicies'])(
  'without the right to list %s: exit 1, one line that names it, nothing deleted',
  async (resource) => {
    await using bed = await withoutRight('list', resource);
    const controller = bed.start(bed.api.kubeconfigOf('dustpan'));
    expect(await controller.ended()).toBe(1);
    expectOneLine(controller.stderr, new RegExp(`cannot list resource "${resource}"`));
    expect(bed.podCount).toBe(5);
  },
);

test('unknown credentials: exit 1, one line', async () => {
  await using bed = await ControllerEnvironment.open();
  const { kubeconfigFile, token } = bed.api;
  writeFileSync(`${kubeconfigFile}.wrong`, readFileSync(kubeconfigFile, 'utf8').replaceAll(token, 'unknown'));
  const controller = bed.start(`${kubeconfigFile}.wrong`);
  expect(await controller.ended()).toBe(1);
  expectOneLine(controller.stderr, /does not accept the credentials/);
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
  await until('it is logged', () =>
    controller.messages.includes('kind GCPolicy is not installed, waiting for it'),
  );
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
