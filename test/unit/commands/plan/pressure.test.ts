import { describe, expect, test } from 'vitest';
import type { ContainerRemoval } from '../../../../src/agent/containergc/facts.ts';
import { plannedContainers, planContainerGc } from '../../../../src/agent/containergc/plan.ts';
import { observeGone } from '../../../../src/agent/containergc/pods.ts';
import type { ImageRemoval } from '../../../../src/agent/imagegc/facts.ts';
import { planImageGc } from '../../../../src/agent/imagegc/plan.ts';
import { observeImages } from '../../../../src/agent/imagegc/records.ts';
import { demandsOf } from '../../../../src/agent/nodepressure/demands.ts';
import { observeSignals } from '../../../../src/agent/nodepressure/signals.ts';
import type { StorageUsage } from '../../../../src/api/local-storage.ts';
import { governNode, nodeRule } from '../../../../src/api/policy/node-governance.ts';
import type { NodePressurePolicy, NodesPolicy } from '../../../../src/api/policy/policy.ts';
import { explainNodeWarning } from '../../../../src/agent/nodepressure/words.ts';
import { reliefOf } from '../../../../src/daemon/agent/relief.ts';
import { now } from '../../../builders.ts';
import { image } from '../../../fakes/runtime.ts';
import { dead, rule as containerRule } from '../../agent/containergc/builders.ts';
import { imageRule } from '../../agent/imagegc/builders.ts';
import { container, mib, storagePod, storagePolicy, usage } from '../../agent/localstorage/builders.ts';
import { crossed, planOf, pressurePolicy } from '../../agent/nodepressure/builders.ts';
import { decided, decisionLines, factsOf, nodesBy, type Facts } from '../facts.ts';
import { crowded, diskReading, writes } from './node-facts.ts';
import { anyAge } from '../../../../src/agent/localstorage/pods.ts';

const by = (over: Partial<NodePressurePolicy> = {}) => nodesBy({ nodePressure: pressurePolicy(over) });
const one = crowded({ a: writes(90) });

/** The node of `one` with objects that may be removed. */
function reclaiming(part: Facts['part'], rules: Partial<NodesPolicy> = {}): Facts {
  const usual = { imageGC: imageRule({ minimumAgeMs: 0 }), containerGC: containerRule() };
  const policies = nodesBy({ ...usual, nodePressure: pressurePolicy(), ...rules });
  return { ...policies, ...one, part: { ...one.part, ...part } };
}

const lines = (fixture: Facts) => decisionLines(fixture, 'nodepressure');

describe('a plan from a snapshot', () => {
  const three = crowded({ a: writes(20), b: writes(40), c: writes(30) });
  const warning = '- node-1 Warn nodefs.available';

  test('evicts one pod, as the controller paces it, and warns about the node', () => {
    expect(lines({ ...by(), ...three })).toEqual([
      '1 b Evict nodefs.available',
      warning,
      '- c Keep PacingLimit',
      '- a Keep PacingLimit',
    ]);
  });

  test('warns about the node with its largest users, and with the time that is left', async () => {
    const part = { ...three.part, images: [image('app', { sizeBytes: 35 * mib })] };
    const warned = decided({ ...by(), ...three, part }, 'nodepressure').find(
      ({ verdict }) => verdict === 'Warn',
    );
    // A plan sees no growth, and does not know the thresholds of the kubelet; an agent does.
    const ahead = crossed({
      reading: { ...diskReading(), signal: 'nodefs.available' },
      ours: { value: 150 * mib, text: '15%', secondsLeft: 0 },
      kubelets: { value: 50 * mib, text: '5%', secondsLeft: 725 },
      growthPerMinute: 4 * mib,
    });
    const [foreseen] = planOf({ signals: [ahead] }).warnings;
    const texts = [warned, foreseen && explainNodeWarning(foreseen)].map(
      (one) => `${one?.detail ?? ''}\n${one?.field ?? ''}\n`,
    );
    await expect(texts.join('\n')).toMatchFileSnapshot('./__snapshots__/node-warnings.txt');
  });

  test('leaves out pods of namespaces with the keep label, or not known', () => {
    const kept = { ...three, namespaces: [], keptNamespaces: ['web'] };
    const decisions = lines({ ...by(), ...kept }).filter((line) => line !== warning);
    expect(decisions).toEqual(['b', 'c', 'a'].map((name) => `- ${name} Keep KeepMarked`));
    expect(lines({ ...by(), ...three, namespaces: [] })[1]).toBe('- b Keep NamespaceUnknown');
  });

  test('evicts nobody while a pod of the node exceeds a limit of its own', () => {
    const { policies } = nodesBy({ nodePressure: pressurePolicy(), localStorageEviction: storagePolicy() });
    const limited = { containers: [container('main', '10Mi')] };
    const pods = three.part?.pods?.map((one) =>
      one.name === 'a' ? { ...one, ...storagePod('a', limited) } : one,
    );
    const fixture = { ...three, policies, part: { ...three.part, pods } };
    expect(decided(fixture, 'localstorage')[0]).toMatchObject({ verdict: 'Evict', object: { name: 'a' } });
    expect(lines(fixture).filter((line) => line.includes('Evict'))).toEqual([]);
  });

  test('a node without measurements evicts nobody', () => {
    expect(lines({ ...by(), ...one, part: { ...one.part, usage: undefined } })).toEqual([
      '- a Keep NoPressure',
    ]);
    expect(lines({ ...by(), ...one, part: { ...one.part, pods: undefined } })).toEqual([warning]);
  });
});

/** The objects that a plan of the node of `one` removes, and the decision about its pod. */
function reclaimed(fixture: Facts): readonly string[] {
  const units = ['imagegc', 'containergc', 'nodepressure'] as const;
  return units
    .flatMap((unit) => decided(fixture, unit))
    .filter(({ verdict, object }) => verdict === 'Remove' || object.kind === 'Pod')
    .map(({ unit, order, verdict, reason, object }) => {
      const name = object.kind === 'Pod' ? object.name : object.id?.replace('sha256:', '');
      return `${unit} ${order ?? '-'} ${String(name)} ${verdict} ${reason}`;
    });
}

/** The objects that the agent of the node of `one` would remove for its only demand, pass by pass, as in mode DryRun. */
async function reclaimedByAgent(fixture: Facts): Promise<readonly string[]> {
  const { policies, parts, nodes } = factsOf(fixture);
  const [part] = parts;
  const governance = governNode(policies, [...(nodes?.values() ?? [])][0]);
  const rule = nodeRule(governance, 'nodePressure');
  if (part?.usage === undefined || rule.kind === 'keep') throw new Error('the node has no pressure');
  const given = { rule: rule.rule, kubelet: new Map(), now, maxAges: anyAge };
  const { states } = observeSignals(new Map(), part.usage, given);
  const names: string[] = [];
  const note = (removals: readonly (ContainerRemoval | ImageRemoval)[]) => {
    for (const { unit, target } of removals)
      if (unit === 'nodepressure' && 'id' in target) names.push(target.id.replace('sha256:', ''));
  };
  const measure = () => Promise.resolve({ availableBytes: 100 * mib, inodesFree: undefined });
  const relieve = reliefOf({
    containers: {
      relieve: (demand) => {
        const facts = { ...part, sightings: observeGone(new Map(), part, { now }) };
        const plan = planContainerGc(facts, { governance, now, assumeGone: true, demand });
        note(plan.removals);
        return Promise.resolve({ result: 'Exhausted', planned: plannedContainers(facts, plan) });
      },
    },
    images: {
      relieve: ({ planned: { ids }, ...demand }) => {
        const { images = [], mounted } = part;
        const containers = part.containers?.filter(({ id }) => !ids.has(id)) ?? [];
        const observed = observeImages(part.state, { images, containers, mounted, now });
        const facts = { ...part, ...observed.state, listed: images, containers };
        const plan = planImageGc(facts, { governance, now, demands: [demand] });
        note(plan.removals);
        return Promise.resolve(plan.reclaim.get(demand.signal) ?? 'Exhausted');
      },
    },
    place: { nodeDisk: measure, imageDisk: measure },
    alone: (pass, signal) => pass(signal),
  });
  for (const demand of demandsOf({ signals: states, usage: part.usage }))
    await relieve(demand, new AbortController().signal);
  return names.map((name, i) => `nodepressure ${i + 1} ${name} Remove nodefs.available`);
}

describe('a plan of a node under pressure that can reclaim', () => {
  const images = ['x', 'y', 'z'].map((name) => image(name, { sizeBytes: 40 * mib }));
  const containers = [
    dead('old', 9, { pod: 'a', imageId: 'sha256:x', imageRef: 'sha256:x' }),
    dead('new', 8, { pod: 'a', attempt: 1, imageId: 'sha256:z', imageRef: 'sha256:z' }),
  ];
  const two = { containerGC: containerRule({ maxPerPodContainer: 2 }) };
  const onDisk = (over: Partial<StorageUsage>) => ({ usage: { ...usage({}), ...one.part?.usage, ...over } });
  const removal = (order: number, name: string) => `nodepressure ${order} ${name} Remove nodefs.available`;
  const eviction = (order: number) => `nodepressure ${order} a Evict nodefs.available`;
  const suffices = 'nodepressure - a Keep ReclaimSuffices';
  const [x, y] = [removal(1, 'x'), removal(2, 'y')];

  test.each<readonly [string, Parameters<typeof reclaiming>, readonly string[]]>([
    ['removes images until enough is available, and evicts nobody', [{ images }], [x, y, suffices]],
    [
      'removes a dead container that the limits keep first, then its image too',
      [{ images, containers }, two],
      [removal(1, 'old'), removal(2, 'x'), removal(3, 'y'), suffices],
    ],
    [
      'names the usual rule where it removes an object, too',
      [
        { images, containers, disk: { capacityBytes: 1000 * mib, availableBytes: 100 * mib } },
        { imageGC: imageRule({ minimumAgeMs: 0, lowThresholdPercent: 89 }) },
      ],
      ['imagegc 1 x Remove Space', 'containergc 1 old Remove DeadContainer', removal(1, 'y'), suffices],
    ],
    [
      'evicts nobody while images stay that the policy has no rule for',
      [{ images }, { imageGC: undefined }],
      ['nodepressure - a Keep ImagesUngoverned'],
    ],
    [
      'evicts nobody while images stay that the policy does not select',
      [{ images }, { imageGC: imageRule({ minimumAgeMs: 0, only: ['ci/*'] }) }],
      ['nodepressure - a Keep ImagesUngoverned'],
    ],
    ['evicts what the reclaim leaves', [{ images: images.slice(0, 1) }], [x, eviction(2)]],
    [
      'evicts nobody while a later pass may remove more',
      [{ images }, { imageGC: imageRule({ minimumAgeMs: 0, maxImagesPerPass: 1 }) }],
      [x, 'nodepressure - a Keep Reclaiming'],
    ],
    [
      'removes no image of another disk',
      [{ images, containers, ...onDisk({ dedicatedImageFs: true }) }, two],
      [removal(1, 'old'), eviction(2)],
    ],
  ])('%s, as the agent does', async (_, fixture, expected) => {
    const node = reclaiming(...fixture);
    expect(reclaimed(node)).toEqual(expected);
    const removals = expected.filter((line) => /^nodepressure .* Remove /.test(line));
    expect(await reclaimedByAgent(node)).toEqual(removals);
  });

  test('a pod waits for the grace period only where the reclaim does not suffice', () => {
    const waiting = (part: Facts['part']) =>
      decided({ ...reclaiming(part), assumeElapsed: false }, 'nodepressure').find(
        ({ object }) => object.kind === 'Pod',
      );
    const eligibleAt = '2026-01-15T12:01:00Z';
    expect(waiting({ images })).toMatchObject({ reason: 'ReclaimSuffices', eligibleAt: null });
    expect(waiting({ images: [] })).toMatchObject({ reason: 'Reclaiming', eligibleAt });
  });
});
