import fc from 'fast-check';
import { expect, test } from 'vitest';
import type {
  ContainerDecision,
  ContainerGcFacts,
  ContainerGcPlan,
} from '../../../../src/agent/containergc/facts.ts';
import type { ContainerGcPolicy } from '../../../../src/api/policy/policy.ts';
import { overLimits } from '../../../../src/agent/containergc/containers.ts';
import { planContainerGc } from '../../../../src/agent/containergc/plan.ts';
import { podThatMustBeGone } from '../../../../src/agent/containergc/recheck.ts';
import type { RuntimeContainer, RuntimeSandbox } from '../../../../src/cri/runtime.ts';
import { facts, isGone, isNeeded, planned, policies, removedContainers, uidOf } from './arbitraries.ts';
import { minutesAgo, now } from '../../../builders.ts';
import { governedBy, keptOf, logsRule, nameOf, removalsOf } from './builders.ts';
import { worlds } from '../../../worlds.ts';

const removedSandboxes = ({ removals }: ContainerGcPlan): RuntimeSandbox[] =>
  removals.flatMap(({ target }) => (target.kind === 'Sandbox' ? [target.sandbox] : []));

/** The node after the plan was executed. */
function applied(seen: ContainerGcFacts, plan: ContainerGcPlan): ContainerGcFacts {
  const ids = new Set(plan.removals.map(({ target }) => nameOf(target)));
  const removed = removedContainers(plan);
  const paths = plan.removals.flatMap(({ target }) => ('path' in target ? [target.path] : []));
  const isGone = (path: string): boolean =>
    paths.some((gone) => path === gone || path.startsWith(`${gone}/`)) ||
    // The log of an attempt is removed with its rotations.
    paths.some((gone) => gone.endsWith('.log') && path.startsWith(`${gone}.`)) ||
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

/** A property of every world. */
const holds = (check: (seen: ContainerGcFacts, policy: ContainerGcPolicy) => void) => (): void =>
  fc.assert(fc.property(facts, policies, check), worlds);

test(
  'a running container, one that the kubelet did not create and one of a static pod are never removed',
  holds((seen, policy) => {
    for (const { state, labels } of removedContainers(planned(seen, policy))) {
      expect(state).not.toBe('Running');
      const uid = labels['io.kubernetes.pod.uid'] ?? '';
      expect(['uid-a', 'uid-b', 'uid-c', 'uid-gone']).toContain(uid);
      if (!isGone(seen, uid)) expect(state).not.toBe('Unknown');
    }
  }),
);

test(
  'a ready sandbox, one with a kept container, and the newest of an existing pod are never removed',
  holds((seen, policy) => {
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
);

test(
  'for node pressure a plan only adds dead containers, never one that a pod needs',
  holds((seen, policy) => {
    const demand = { signal: 'nodefs.available', threshold: '15%', wanted: 1 } as const;
    const given = { governance: governedBy(policy), now, assumeGone: true };
    const lines = (plan: ContainerGcPlan) =>
      plan.removals
        .filter(({ target }) => target.kind === 'Container')
        .map(({ target, reason }) => `${nameOf(target)} ${reason}`);
    const plan = planContainerGc(seen, { ...given, demand });
    const others = lines(plan).filter((line) => !line.endsWith(demand.signal));
    expect(others).toEqual(lines(planContainerGc(seen, given)));
    for (const { target, reason } of plan.removals) {
      if (reason !== demand.signal || target.kind !== 'Container') continue;
      expect(target.container.state).not.toBe('Running');
      expect(isNeeded(seen, target.container)).toBe(false);
    }
  }),
);

test('the order of the lists does not matter', () => {
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
      expect(removalsOf(planned(other, policy))).toEqual(removalsOf(planned(seen, policy)));
    }),
    worlds,
  );
});

test(
  'a second plan after an executed one removes nothing',
  holds((seen, policy) => {
    expect(removalsOf(planned(applied(seen, planned(seen, policy)), policy))).toEqual([]);
  }),
);

test(
  'every kept container is removed in the pass of its time, and none without a time by time alone',
  holds((seen, policy) => {
    // A pod whose deletion ends would change the decisions.
    const pods = seen.pods?.map((pod) => ({ ...pod, deletionAtMs: undefined }));
    const at = (node: ContainerGcFacts, moment: Date): ContainerGcPlan =>
      planContainerGc(node, { governance: governedBy(policy), now: moment, assumeGone: true });
    const plan = at({ ...seen, pods }, now);
    const announced = plan.kept.flatMap(({ target, eligibleAt }) =>
      target.kind === 'Container' && eligibleAt !== undefined
        ? [`${target.id} ${eligibleAt.toISOString()}`]
        : [],
    );
    let node = applied({ ...seen, pods }, plan);
    const removed: string[] = [];
    // Ages are whole minutes, up to eight; the longest minimum age is three.
    for (let minutes = 1; minutes <= 4; minutes += 1) {
      const moment = new Date(minutesAgo(-minutes));
      const next = at(node, moment);
      removed.push(...removedContainers(next).map(({ id }) => `${id} ${moment.toISOString()}`));
      node = applied(node, next);
    }
    expect(removed.sort()).toEqual(announced.sort());
  }),
);

test(
  'every container and every sandbox has one decision',
  holds((seen, policy) => {
    const { removals, kept } = planned(seen, policy);
    const decided = [...removals, ...kept]
      .map(({ target }) => target)
      .filter(({ kind }) => kind === 'Container' || kind === 'Sandbox');
    const all = [...(seen.containers ?? []), ...(seen.sandboxes ?? [])];
    expect(decided.map(nameOf).sort()).toEqual(all.map(({ id }) => id).sort());
  }),
);

test(
  'no pod is gone while the pods are unknown',
  holds((seen, policy) => {
    const { removals } = planned({ ...seen, pods: undefined }, policy);
    expect(removals.filter((removal) => podThatMustBeGone(removal) !== undefined)).toEqual([]);
  }),
);

/** The dead containers that the limits count. */
const limitedContainers = (decisions: readonly ContainerDecision[]): RuntimeContainer[] =>
  decisions.flatMap(({ target, reason }) =>
    target.kind === 'Container' && ['DeadContainer', 'NewestAttempt', 'UnderLimit'].includes(reason)
      ? [target.container]
      : [],
  );

test(
  'the newest dead attempt of every container of an existing pod is kept under a limit per container of at least one and no total limit',
  holds((seen, policy) => {
    const limits = {
      ...policy,
      maxPerPodContainer: policy.maxPerPodContainer === 0 ? 1 : policy.maxPerPodContainer,
    };
    const plan = planned(seen, { ...limits, maxContainers: undefined });
    for (const one of removedContainers(plan).filter((container) => !isGone(seen, uidOf(container)))) {
      const newer = plan.kept.some(
        ({ target, reason }) =>
          target.kind === 'Container' &&
          reason === 'NewestAttempt' &&
          target.pod.uid === one.labels['io.kubernetes.pod.uid'] &&
          target.name === one.name &&
          target.container.createdAtNs >= one.createdAtNs,
      );
      expect(newer).toBe(true);
    }
  }),
);

test(
  'the newest attempt of an unfinished pod is kept whatever the limits',
  holds((seen, policy) => {
    const { removals } = planned(seen, policy);
    for (const { target, reason } of removals)
      if (target.kind === 'Container' && reason === 'DeadContainer')
        expect(isNeeded(seen, target.container)).toBe(false);
  }),
);

test('a total limit is exceeded only by the newest attempts of unfinished pods', () => {
  fc.assert(
    fc.property(facts, policies, fc.integer({ min: 0, max: 6 }), (seen, policy, maxContainers) => {
      const limited = limitedContainers(planned(seen, { ...policy, maxContainers }).kept);
      expect(limited.filter((one) => !isNeeded(seen, one)).length).toBeLessThanOrEqual(maxContainers);
    }),
    worlds,
  );
});

test(
  'a kept newest attempt makes no other container exceed a limit',
  holds((seen, policy) => {
    const { removals, kept } = planned(seen, policy);
    const dead = limitedContainers([...removals, ...kept]);
    const over = [...overLimits(dead, policy)].filter((one) => !isNeeded(seen, one));
    expect(new Set(limitedContainers(removals))).toEqual(new Set(over));
  }),
);

test('the random nodes are such that each kind of garbage is removed in some of them', () => {
  const reasons = fc
    .sample(fc.tuple(facts, policies), worlds.numRuns)
    .flatMap(([seen, policy]) => planned(seen, policy).removals.map(({ reason }) => reason));
  for (const reason of ['Sandbox', 'PodGone', 'DeadContainer', 'OrphanedLogs', 'ContainerGone', 'RotatedLog'])
    expect(reasons.filter((one) => one === reason).length).toBeGreaterThan(worlds.numRuns / 20);
});

test(
  'warnings change no decision, and each names the log of a running container',
  holds((seen, policy) => {
    const silent = planned(seen, { ...policy, logs: logsRule(policy.logs) });
    const plan = planned(seen, {
      ...policy,
      logs: logsRule({ ...policy.logs, warnBytesPerContainer: 99 }),
    });
    expect([removalsOf(plan), keptOf(plan)]).toEqual([removalsOf(silent), keptOf(silent)]);
    expect(silent.warnings).toEqual([]);
    const warned = plan.warnings.map(({ target }) => target.id);
    expect(new Set(warned).size).toBe(warned.length);
    for (const { target } of plan.warnings) {
      const { state, labels, name, attempt } = seen.containers?.find(({ id }) => id === target.id) ?? {};
      expect(state).toBe('Running');
      expect(target.logPath).toContain(
        `_${labels?.['io.kubernetes.pod.uid'] ?? '?'}/${name ?? ''}/${attempt ?? ''}.log`,
      );
      expect(target.logPath).not.toMatch(/\.gz$/);
    }
  }),
);
