import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ContainerGcPolicy } from '../../../src/api/policy.ts';
import type {
  ContainerGcFacts,
  ContainerGcObject,
  ContainerGcPlan,
  KnownPod,
} from '../../../src/agent/containergc/facts.ts';
import { overLimits } from '../../../src/agent/containergc/limits.ts';
import { byNewest } from '../../../src/agent/containergc/order.ts';
import { planContainerGc } from '../../../src/agent/containergc/plan.ts';
import type { RuntimeContainer, RuntimeSandbox } from '../../../src/cri/runtime.ts';
import { minutesAgo, now } from '../../builders.ts';
import {
  apiPod,
  dead,
  down,
  factsOf,
  goes,
  log,
  logsRule,
  nameOf,
  rule,
  staticSource,
} from './containergc.world.ts';
import { property, worlds } from '../../property.ts';

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
      fc.constantFrom('0.log', '0.log.20260101-000001', '1.log.20260101-000002.gz'),
      age,
    ),
    { selector: ([pod, name, file]) => `${pod}/${name}/${file}`, maxLength: 12 },
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

const facts: fc.Arbitrary<ContainerGcFacts> = fc
  .record({ containers, sandboxes, logs, pods })
  .map((world) => factsOf(world));

const uidOf = ({ labels }: RuntimeContainer): string => labels['io.kubernetes.pod.uid'] ?? '';

const isAlive = (seen: ContainerGcFacts, uid: string): boolean =>
  (seen.containers ?? []).some((one) => uidOf(one) === uid && one.state === 'Running') ||
  (seen.sandboxes ?? []).some(({ podUid, state }) => podUid === uid && state === 'Ready');

/** Absent, evicted, or deleted a while ago; and nothing of it is alive. */
function isGone(seen: ContainerGcFacts, uid: string): boolean {
  if (isAlive(seen, uid)) return false;
  const known = seen.pods?.find((pod) => pod.uid === uid);
  return known === undefined || known.evicted === true || (known.deletionAtMs ?? Infinity) < now.getTime();
}

/** The newest attempt of all, in a pod that may still run it again. */
function isNeeded(seen: ContainerGcFacts, one: RuntimeContainer): boolean {
  const uid = uidOf(one);
  const phase = seen.pods?.find((pod) => pod.uid === uid)?.phase;
  const isFinished = (phase === 'Succeeded' || phase === 'Failed') && !isAlive(seen, uid);
  const attempts = (seen.containers ?? []).filter((other) => uidOf(other) === uid && other.name === one.name);
  return !isFinished && attempts.every((other) => other === one || byNewest(one, other) < 0);
}

const policies: fc.Arbitrary<ContainerGcPolicy> = fc
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

const planned = (seen: ContainerGcFacts, policy: ContainerGcPolicy): ContainerGcPlan =>
  planContainerGc(seen, { policy, now, assumeGone: true });

const removedContainers = ({ removals }: ContainerGcPlan): RuntimeContainer[] =>
  removals.flatMap(({ object }) => (object.kind === 'container' ? [object.container] : []));
/** The dead containers that the limits look at. */
const limitedContainers = (
  decisions: readonly { readonly object: ContainerGcObject; readonly reason: string }[],
): RuntimeContainer[] =>
  decisions.flatMap(({ object, reason }) =>
    object.kind === 'container' && ['DeadContainer', 'NewestAttempt', 'UnderLimit'].includes(reason)
      ? [object.container]
      : [],
  );
const removedSandboxes = ({ removals }: ContainerGcPlan): RuntimeSandbox[] =>
  removals.flatMap(({ object }) => (object.kind === 'sandbox' ? [object.sandbox] : []));

/** The world after everything planned was done. */
function applied(seen: ContainerGcFacts, plan: ContainerGcPlan): ContainerGcFacts {
  const ids = new Set(plan.removals.map(({ object }) => nameOf(object)));
  const removed = removedContainers(plan);
  const paths = plan.removals.flatMap(({ object }) => ('path' in object ? [object.path] : []));
  const isGone = (path: string): boolean =>
    paths.some((gone) => path === gone || path.startsWith(`${gone}/`)) ||
    removed.some(({ labels, name, attempt }) =>
      path.includes(`_${labels['io.kubernetes.pod.uid'] ?? ''}/${name}/${attempt}.log`),
    );
  return {
    ...seen,
    containers: seen.containers?.filter(({ id }) => !ids.has(id)),
    sandboxes: seen.sandboxes?.filter(({ id }) => !ids.has(id)),
    logs: seen.logs && { ...seen.logs, entries: seen.logs.entries.filter(({ path }) => !isGone(path)) },
  };
}

test('a running container, one that is not the kubelet’s and one of a static pod never go', property, () => {
  fc.assert(
    fc.property(facts, policies, (seen, policy) => {
      for (const { state, labels } of removedContainers(planned(seen, policy))) {
        expect(state).not.toBe('Running');
        const uid = labels['io.kubernetes.pod.uid'] ?? '';
        expect(['uid-a', 'uid-b', 'uid-c', 'uid-gone']).toContain(uid);
        if (!isGone(seen, uid)) expect(state).not.toBe('Unknown');
      }
    }),
    worlds,
  );
});

test(
  'a ready sandbox, one that a container which stays refers to, and the newest of an existing pod never go',
  property,
  () => {
    fc.assert(
      fc.property(facts, policies, (seen, policy) => {
        const plan = planned(seen, policy);
        const going = new Set(removedContainers(plan).map(({ id }) => id));
        const used = seen.containers?.filter(({ id }) => !going.has(id)).map(({ sandboxId }) => sandboxId);
        for (const { id, state, podUid, createdAtNs } of removedSandboxes(plan)) {
          expect(state).toBe('NotReady');
          expect(used).not.toContain(id);
          const newer = seen.sandboxes?.some(
            (one) => one.podUid === podUid && one.createdAtNs >= createdAtNs && one.id !== id,
          );
          expect(newer === true || isGone(seen, podUid)).toBe(true);
        }
      }),
      worlds,
    );
  },
);

test(
  'of every container of an existing pod a newest dead attempt stays, when the limit per container allows one and there is no total',
  property,
  () => {
    fc.assert(
      fc.property(facts, policies, (seen, policy) => {
        const limits = {
          ...policy,
          maxPerPodContainer: policy.maxPerPodContainer === 0 ? 1 : policy.maxPerPodContainer,
        };
        const plan = planned(seen, { ...limits, maxContainers: undefined });
        for (const one of removedContainers(plan).filter((container) => !isGone(seen, uidOf(container)))) {
          const newer = plan.kept.some(
            ({ object, reason }) =>
              object.kind === 'container' &&
              reason === 'NewestAttempt' &&
              object.container.labels['io.kubernetes.pod.uid'] === one.labels['io.kubernetes.pod.uid'] &&
              object.container.name === one.name &&
              object.container.createdAtNs >= one.createdAtNs,
          );
          expect(newer).toBe(true);
        }
      }),
      worlds,
    );
  },
);

test('whatever the limits, the newest attempt of a pod that has not finished stays', property, () => {
  fc.assert(
    fc.property(facts, policies, (seen, policy) => {
      const { removals } = planned(seen, policy);
      for (const { object, reason } of removals)
        if (object.kind === 'container' && reason === 'DeadContainer')
          expect(isNeeded(seen, object.container)).toBe(false);
    }),
    worlds,
  );
});

test('a total limit is kept, but for the newest attempts of pods that have not finished', property, () => {
  fc.assert(
    fc.property(facts, policies, fc.integer({ min: 0, max: 6 }), (seen, policy, maxContainers) => {
      const limited = limitedContainers(planned(seen, { ...policy, maxContainers }).kept);
      expect(limited.filter((one) => !isNeeded(seen, one)).length).toBeLessThanOrEqual(maxContainers);
    }),
    worlds,
  );
});

test('the newest attempts that stay cost no other container its place', property, () => {
  fc.assert(
    fc.property(facts, policies, (seen, policy) => {
      const { removals, kept } = planned(seen, policy);
      const dead = limitedContainers([...removals, ...kept]);
      const over = [...overLimits(dead, policy)].filter((one) => !isNeeded(seen, one));
      expect(new Set(limitedContainers(removals))).toEqual(new Set(over));
    }),
    worlds,
  );
});

test('the order of the lists does not matter', property, () => {
  fc.assert(
    fc.property(facts, policies, fc.integer(), (seen, policy, seed) => {
      const shuffled = <T>(list: readonly T[] | undefined): T[] =>
        [...(list ?? [])]
          .map((item, i) => ({ item, key: Math.sin(seed + i) }))
          .sort((a, b) => a.key - b.key)
          .map(({ item }) => item);
      const other = {
        ...seen,
        containers: shuffled(seen.containers),
        sandboxes: shuffled(seen.sandboxes),
        logs: seen.logs && { ...seen.logs, entries: shuffled(seen.logs.entries) },
      };
      expect(goes(planned(other, policy))).toEqual(goes(planned(seen, policy)));
    }),
    worlds,
  );
});

test('once a plan is done there is nothing left to do', property, () => {
  fc.assert(
    fc.property(facts, policies, (seen, policy) => {
      expect(goes(planned(applied(seen, planned(seen, policy)), policy))).toEqual([]);
    }),
    worlds,
  );
});

test('every container and every sandbox has one decision', property, () => {
  fc.assert(
    fc.property(facts, policies, (seen, policy) => {
      const { removals, kept } = planned(seen, policy);
      const told = [...removals, ...kept]
        .map(({ object }) => object)
        .filter(({ kind }) => kind === 'container' || kind === 'sandbox');
      const all = [...(seen.containers ?? []), ...(seen.sandboxes ?? [])];
      expect(told.map(nameOf).sort()).toEqual(all.map(({ id }) => id).sort());
    }),
    worlds,
  );
});

test('without the pods nothing is called gone', property, () => {
  fc.assert(
    fc.property(facts, policies, (seen, policy) => {
      const { removals } = planned({ ...seen, pods: undefined }, policy);
      expect(removals.filter(({ because }) => because === 'podGone')).toEqual([]);
    }),
    worlds,
  );
});
