import fc from 'fast-check';
import type { ContainerGcPolicy } from '../../../../src/api/policy/policy.ts';
import type { ContainerGcPlan } from '../../../../src/agent/containergc/facts.ts';
import type { ContainerGcFacts, KnownPod } from '../../../../src/agent/containergc/facts.ts';
import { byNewest } from '../../../../src/agent/containergc/containers.ts';
import { planContainerGc } from '../../../../src/agent/containergc/plan.ts';
import type { RuntimeContainer, RuntimeSandbox } from '../../../../src/cri/runtime.ts';
import { minutesAgo, now } from '../../../builders.ts';
import { apiPod, dead, down, factsOf, governedBy, log, logsRule, rule, staticSource } from './builders.ts';

const podNames = ['a', 'b', 'c', 'gone', 'static'];
const podName = fc.constantFrom(...podNames);
const age = fc.integer({ min: 0, max: 8 });
const limit = fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined });

const containers = fc
  .array(
    fc.record({
      pod: podName,
      name: fc.constantFrom('main', 'side'),
      age,
      attempt: fc.integer({ min: 0, max: 3 }),
      state: fc.constantFrom('Created', 'Running', 'Exited', 'Exited', 'Unknown'),
      sandbox: fc.integer({ min: 0, max: 1 }),
      labelled: fc.integer({ min: 0, max: 9 }),
    }),
    { maxLength: 25 },
  )
  .map((list) =>
    list.map(({ pod, name, age: minutes, attempt, state, sandbox, labelled }, i): RuntimeContainer =>
      dead(`container-${i}`, minutes, {
        ...{ pod, name, attempt, state, sandboxId: `${pod}-${sandbox}` },
        ...(labelled === 0 ? { labels: {} } : {}),
      }),
    ),
  );

const sandboxes = fc
  .array(fc.record({ pod: podName, slot: fc.integer({ min: 0, max: 3 }), ready: fc.boolean(), age }), {
    maxLength: 12,
  })
  .map((list) =>
    list.map(({ pod, slot, ready, age: minutes }, i): RuntimeSandbox =>
      down(pod, minutes, {
        id: slot < 2 ? `${pod}-${slot}` : `${pod}-${slot}-${i}`,
        ...(ready ? { state: 'Ready' } : {}),
        ...(pod === 'static' ? { annotations: staticSource } : {}),
      }),
    ),
  )
  .map((list) => [...new Map(list.map((one) => [one.id, one])).values()]);

const logs = fc
  .uniqueArray(
    fc.tuple(
      podName,
      fc.constantFrom('main', 'side'),
      fc.constantFrom('0.log', '0.log.20260101-000001', '1.log.20260101-000002.gz', '2.log', '3.log'),
      age,
    ),
    { selector: ([pod, name, file]) => `${pod}/${name}/${file}`, maxLength: 16 },
  )
  .map((list) =>
    list.map(([pod, name, file, minutes]) =>
      log(`default_${pod}_uid-${pod}/${name}/${file}`, { mtimeMs: minutesAgo(minutes) }),
    ),
  );

const phases: Partial<KnownPod>[] = [
  ...['Pending', 'Running', 'Succeeded', 'Failed'].map((phase) => ({ phase })),
  { phase: 'Failed', evicted: true },
  {},
];
const pods = fc
  .tuple(
    ...['a', 'b', 'c'].map((name) =>
      fc.tuple(fc.constant(name), fc.constantFrom(...phases), fc.constantFrom(undefined, 1, -1)),
    ),
  )
  .map((list) => [
    ...list.map(([name, phase, minutes]): KnownPod => ({
      ...{ ...apiPod(name), ...phase },
      deletionAtMs: minutes === undefined ? undefined : minutesAgo(minutes),
    })),
    apiPod('mirror', 'uid-static'),
  ]);

export const facts: fc.Arbitrary<ContainerGcFacts> = fc
  .record({ containers, sandboxes, logs, pods })
  .map((node) => factsOf(node));

export const uidOf = ({ labels }: RuntimeContainer): string => labels['io.kubernetes.pod.uid'] ?? '';

const isAlive = (seen: ContainerGcFacts, uid: string): boolean =>
  (seen.containers ?? []).some((one) => uidOf(one) === uid && one.state === 'Running') ||
  (seen.sandboxes ?? []).some(({ podUid, state }) => podUid === uid && state === 'Ready');

/** Absent, evicted, or deleted a while ago; and nothing of it is alive. */
export function isGone(seen: ContainerGcFacts, uid: string): boolean {
  if (isAlive(seen, uid)) return false;
  const known = seen.pods?.find((pod) => pod.uid === uid);
  return known === undefined || known.evicted === true || (known.deletionAtMs ?? Infinity) < now.getTime();
}

/** The newest attempt of all, in a pod that may still run it again. */
export function isNeeded(seen: ContainerGcFacts, one: RuntimeContainer): boolean {
  const uid = uidOf(one);
  const phase = seen.pods?.find((pod) => pod.uid === uid)?.phase;
  const isFinished = (phase === 'Succeeded' || phase === 'Failed') && !isAlive(seen, uid);
  const attempts = (seen.containers ?? []).filter((other) => uidOf(other) === uid && other.name === one.name);
  return !isFinished && attempts.every((other) => other === one || byNewest(one, other) < 0);
}

export const policies: fc.Arbitrary<ContainerGcPolicy> = fc
  .record({
    minimumAgeMs: fc.constantFrom(0, 180_000),
    maxPerPodContainer: limit,
    maxContainers: limit,
    maxRotatedPerContainer: limit,
    maxBytesPerPod: fc.constantFrom(undefined, 100, 250),
  })
  .map(({ maxRotatedPerContainer, maxBytesPerPod, ...limits }) =>
    rule({ ...limits, logs: logsRule({ maxRotatedPerContainer, maxBytesPerPod }) }),
  );

export const planned = (seen: ContainerGcFacts, policy: ContainerGcPolicy): ContainerGcPlan =>
  planContainerGc(seen, { governance: governedBy(policy), now, assumeGone: true });

export const removedContainers = ({ removals }: ContainerGcPlan): RuntimeContainer[] =>
  removals.flatMap(({ target }) => (target.kind === 'Container' ? [target.container] : []));
