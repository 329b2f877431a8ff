import { describe, expect, test } from 'vitest';
import type { SignalReading, DiskSignal } from '../../../../src/api/node-pressure.ts';
import type { StoragePod, StorageUsage } from '../../../../src/api/local-storage.ts';
import type { NodePressurePolicy, NodesPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import {
  nodeKeepReasons,
  pressureKeepReasons,
  type PressureKeepReason,
} from '../../../../src/api/reasons.ts';
import type { Decision } from '../../../../src/commands/plan/document.ts';
import { everything, nodesRules, now } from '../../../builders.ts';
import { container, mib, storagePod, usage, type Used } from '../../agent/localstorage/builders.ts';
import { pressurePolicy } from '../../controllers/eviction/builders.ts';
import { image } from '../../../fakes/runtime.ts';
import { dead, log, rule as containerRule } from '../../agent/containergc/builders.ts';
import { imageRule } from '../../agent/imagegc/builders.ts';
import { decided, invalidPolicy, nodesBy, totals, type Fixture } from '../../reasons/reasons.fixture.ts';

const measuredAtMs = now.getTime();
const reading = (over: Partial<SignalReading> = {}): SignalReading => ({
  ...{ signal: 'nodefs.available', available: 100 * mib, capacity: 1000 * mib, measuredAtMs },
  ...over,
});
const by = (over: Partial<NodePressurePolicy> = {}): { readonly policies: readonly [Policy] } => {
  const rules = pressurePolicy(over).nodes;
  return nodesBy({ nodePressure: rules?.nodePressure });
};

/** A node with these pods that uses 900 MiB of 1000. */
function crowded(
  pods: Readonly<Record<string, { readonly used?: Used; readonly over?: Partial<StoragePod> }>>,
  ...signals: readonly SignalReading[]
): Pick<Fixture, 'part' | 'namespaces' | 'assumeElapsed'> {
  const used = Object.entries(pods).flatMap(([name, one]) => (one.used ? [[name, one.used] as const] : []));
  return {
    part: {
      pods: Object.entries(pods).map(([name, { over }]) => ({
        ...storagePod(name, { containers: [container('main', undefined, '10Mi')] }, over),
        resourceVersion: '1',
      })),
      usage: {
        ...usage(Object.fromEntries(used)),
        dedicatedImageFs: false,
        signals: signals.length > 0 ? signals : [reading()],
      },
    },
    namespaces: ['web'],
    assumeElapsed: true,
  };
}
const writes = (mebi: number): { readonly used: Used } => ({
  used: { containers: { main: { layer: 0, logs: mebi } } },
});
const one = crowded({ a: writes(90) });
const withPod = (over: Partial<StoragePod>) => crowded({ a: { ...writes(90), over } });
const signalled = (signal: DiskSignal): Fixture => ({
  ...by({ thresholds: new Map([[signal, { kind: 'percent', percent: 15, text: '15%' }]]) }),
  ...crowded({ a: writes(90) }, reading({ signal })),
});
const inodes = (fixture: Fixture): Fixture => ({
  ...fixture,
  part: {
    ...fixture.part,
    usage: fixture.part?.usage && {
      ...fixture.part.usage,
      pods: new Map([
        [
          'uid-a',
          {
            ...{ total: undefined, volumes: new Map() },
            containers: [
              { name: 'main', layer: undefined, logs: { bytes: 1, inodes: 7 * mib, atMs: measuredAtMs } },
            ],
          },
        ],
      ]),
    },
  },
});

/** The node of `one` with objects that may be removed. */
function reclaiming(part: Fixture['part'], rules: Partial<NodesPolicy> = {}): Fixture {
  const usual = { imageGC: imageRule({ minimumAgeMs: 0 }), containerGC: containerRule() };
  const nodePressure = by().policies[0].nodes?.nodePressure;
  return { ...nodesBy({ ...usual, nodePressure, ...rules }), ...one, part: { ...one.part, ...part } };
}

/** A rule with a threshold of 15 % for these signals. */
function pressed(signals: readonly DiskSignal[]): NodePressurePolicy | undefined {
  const amount = { kind: 'percent', percent: 15, text: '15%' } as const;
  return by({ thresholds: new Map(signals.map((signal) => [signal, amount])) }).policies[0].nodes
    ?.nodePressure;
}

/** Has a rule for node pressure, but selects other nodes. */
const elsewhere: Policy = {
  ...by().policies[0],
  name: 'elsewhere',
  nodes: nodesRules({
    ...by().policies[0].nodes,
    nodeSelector: { ...everything, matchLabels: { disk: 'none' } },
  }),
};

/** A fixture for each reason about the pod `a`. */
const planned: Readonly<Record<DiskSignal | PressureKeepReason, Fixture>> = {
  'nodefs.available': { ...by(), ...one },
  'nodefs.inodesFree': inodes(signalled('nodefs.inodesFree')),
  'imagefs.available': signalled('imagefs.available'),
  'imagefs.inodesFree': inodes(signalled('imagefs.inodesFree')),
  NoPressure: { ...by(), ...crowded({ a: writes(90) }, reading({ available: 500 * mib })) },
  EvictionOff: { ...by({ evictPods: false }), ...one },
  ThresholdBeyondDisk: {
    ...by({
      thresholds: new Map([
        ['nodefs.available', { kind: 'quantity', value: 500 * 1024 * mib, text: '500Gi' }],
      ]),
    }),
    ...one,
  },
  Reclaiming: { ...by(), ...one, assumeElapsed: false },
  ReclaimSuffices: reclaiming({ images: [image('unused', { sizeBytes: 60 * mib })] }),
  PodEnding: {
    ...by(),
    ...crowded({ a: writes(90), z: { over: { deletionAtMs: now.getTime() + 30_000 } } }),
  },
  NoUsage: { ...by(), ...crowded({ a: writes(0) }) },
  RankedLater: {
    ...by(),
    ...crowded({ a: writes(20), b: writes(30), c: writes(40), d: writes(50), e: writes(60) }),
  },
  CriticalPod: { ...by(), ...withPod({ priority: 2_000_000_000 }) },
  KeepMarked: { ...by(), ...withPod({ isOptedOut: true }) },
  NamespaceExcluded: {
    ...nodesBy({ ...by().policies[0].nodes, excludeNamespaces: ['web'] }),
    ...one,
  },
  Finished: { ...by(), ...withPod({ phase: 'Failed' }) },
  Terminating: { ...by(), ...withPod({ deletionAtMs: now.getTime() + 3_600_000 }) },
  UsageUnknown: { ...by(), ...crowded({ a: {} }) },
  NoPolicy: { policies: [elsewhere], ...one },
  InvalidPolicy: { policies: [invalidPolicy, elsewhere], ...one },
  NodeUnknown: { ...by(), ...one, nodes: [] },
  RuleOff: { policies: [...nodesBy({}).policies, elsewhere], ...one },
};

const about = (fixture: Fixture, name = 'a'): readonly Decision[] =>
  decided(fixture, 'nodepressure').filter(({ object }) => object.kind === 'Pod' && object.name === name);
const lines = (fixture: Fixture): readonly string[] =>
  decided(fixture, 'nodepressure').map(
    ({ verdict, reason, order, object }) => `${order ?? '-'} ${String(object.name)} ${verdict} ${reason}`,
  );

test.each(Object.entries(planned))('a plan decides %s', (reason, fixture) => {
  const verdict = reason.includes('.') ? 'Evict' : 'Keep';
  expect(about(fixture).map((decision) => `${decision.verdict} ${decision.reason}`)).toEqual([
    `${verdict} ${reason}`,
  ]);
});

test('every reason to keep a pod has a row', () => {
  const keeps = Object.keys(planned).filter((reason) => !reason.includes('.'));
  expect(keeps.sort()).toEqual([...new Set([...pressureKeepReasons, ...nodeKeepReasons])].sort());
});

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

  test('names the largest users, and the threshold', () => {
    const images = [
      {
        id: 'sha256:1',
        tags: ['app:1'],
        digests: [],
        sizeBytes: 35 * mib,
        pinned: false,
        runtimeHandler: '',
      },
    ];
    const fixture = { ...by(), ...three, part: { ...three.part, images } };
    const [, warned] = decided(fixture, 'nodepressure');
    expect(warned).toMatchObject({
      object: { kind: 'Node', name: 'node-1', node: 'node-1' },
      detail:
        'The node is low on disk space for local storage (nodefs.available): 100 MiB of 1000 MiB are available. ' +
        "The policy's threshold, 15% (150 MiB), is crossed. " +
        'Largest consumers: pod web/b 40.0 MiB, image app:1 35.0 MiB, pod web/c 30.0 MiB.',
      field: 'nodes.nodePressure.thresholds["nodefs.available"]=15%',
    });
  });

  test('waits for the grace period and the removal of images, if nothing is assumed', () => {
    const [, waiting] = decided({ ...by(), ...one, assumeElapsed: false }, 'nodepressure');
    expect(waiting).toMatchObject({
      ...{ verdict: 'Keep', reason: 'Reclaiming', eligibleAt: '2026-01-15T12:01:00Z' },
    });
  });

  test('leaves out pods of namespaces with the keep label, or not known', () => {
    const kept = { ...three, namespaces: [], keptNamespaces: ['web'] };
    expect(lines({ ...by(), ...kept }).filter((line) => line !== warning)).toEqual([
      '- b Keep KeepMarked',
      '- c Keep KeepMarked',
      '- a Keep KeepMarked',
    ]);
    expect(lines({ ...by(), ...three, namespaces: [] })[1]).toBe('- b Keep NamespaceUnknown');
  });

  test('evicts nobody while a pod of the node exceeds a limit of its own', () => {
    const policies = [pressurePolicy()];
    const limited = { containers: [container('main', '10Mi')] };
    const part = {
      ...three.part,
      pods: three.part?.pods?.map((one) =>
        one.name === 'a' ? { ...one, ...storagePod('a', limited) } : one,
      ),
    };
    const fixture = { ...three, policies, part };
    expect(decided(fixture, 'localstorage')[0]).toMatchObject({ verdict: 'Evict', object: { name: 'a' } });
    expect(lines(fixture).filter((line) => line.includes('Evict'))).toEqual([]);
  });

  test('without a time, measurements may have any age', () => {
    const undated = { ...one.part?.usage, atMs: 0 };
    const stale = reading({ measuredAtMs: measuredAtMs - 3_600_000 });
    const part = { ...one.part, usage: { ...usage({}), ...undated, signals: [stale] } };
    expect(lines({ ...by(), ...one, part })[0]).toBe('1 a Evict nodefs.available');
  });

  test('a measurement that is a little younger than the others changes nothing', () => {
    const young = reading({ measuredAtMs: measuredAtMs + 30_000 });
    expect(lines({ ...by(), ...crowded({ a: writes(90) }, young) })[0]).toBe('1 a Evict nodefs.available');
  });

  test('memory is only warned about', () => {
    const memory = reading({ signal: 'memory.available', available: 100 * mib, capacity: 8000 * mib });
    expect(lines({ ...by(), ...crowded({ a: writes(90) }, memory) })).toEqual([
      '- node-1 Warn memory.available',
      '- a Keep NoPressure',
    ]);
  });

  test('a node without measurements evicts nobody', () => {
    expect(lines({ ...by(), ...one, part: { ...one.part, usage: undefined } })).toEqual([
      '- a Keep NoPressure',
    ]);
    expect(lines({ ...by(), ...one, part: { ...one.part, pods: undefined } })).toEqual([warning]);
  });
});

/** The objects that a plan of the node of `one` removes, and the decision about its pod. */
function reclaimed(fixture: Fixture): readonly string[] {
  const units = (['imagegc', 'containergc', 'nodepressure'] as const).flatMap((unit) =>
    decided(fixture, unit),
  );
  return units
    .filter(({ verdict, object }) => verdict === 'Remove' || object.kind === 'Pod')
    .map(({ unit, order, verdict, reason, object }) => {
      const name =
        object.kind === 'Pod' ? object.name : ('id' in object ? object.id : '').replace('sha256:', '');
      return `${unit} ${order ?? '-'} ${name} ${verdict} ${reason}`;
    });
}

describe('a plan of a node under pressure that can reclaim', () => {
  const images = ['x', 'y', 'z'].map((name) => image(name, { sizeBytes: 40 * mib }));
  const containers = [
    dead('old', 9, { pod: 'a', imageId: 'sha256:x', imageRef: 'sha256:x' }),
    dead('new', 8, { pod: 'a', attempt: 1, imageId: 'sha256:z', imageRef: 'sha256:z' }),
  ];
  const pods = one.part?.pods ?? [];
  const two = { containerGC: containerRule({ maxPerPodContainer: 2 }) };
  const onDisk = (over: Partial<StorageUsage>) => ({
    usage: { ...usage({}), ...one.part?.usage, ...over },
  });
  const roots = { pods: '/var/log/pods', containers: '/var/log/containers' };
  const entries = [log('web_a_uid-a/main/0.log', { bytes: 50 * mib })];
  const logs = { roots, entries, directories: [], complete: true };
  const x = 'nodepressure 1 x Remove nodefs.available';
  const y = 'nodepressure 2 y Remove nodefs.available';

  test.each<readonly [string, Parameters<typeof reclaiming>, readonly string[]]>([
    [
      'removes images until enough is available, and evicts nobody',
      [{ images }],
      [x, y, 'nodepressure - a Keep ReclaimSuffices'],
    ],
    [
      'removes a dead container that the limits keep first, then its image too',
      [{ images, containers }, two],
      [
        'nodepressure 1 old Remove nodefs.available',
        'nodepressure 2 x Remove nodefs.available',
        'nodepressure 3 y Remove nodefs.available',
        'nodepressure - a Keep ReclaimSuffices',
      ],
    ],
    [
      'removes no image where the logs of dead containers are enough',
      [{ images, containers, logs }, two],
      ['nodepressure 1 old Remove nodefs.available', 'nodepressure - a Keep ReclaimSuffices'],
    ],
    [
      'names the usual rule where it removes an object, too',
      [
        { images, containers, disk: { capacityBytes: 1000 * mib, availableBytes: 100 * mib } },
        { imageGC: imageRule({ minimumAgeMs: 0, lowThresholdPercent: 89 }) },
      ],
      [
        'imagegc 1 x Remove Space',
        'containergc 1 old Remove DeadContainer',
        'nodepressure 1 y Remove nodefs.available',
        'nodepressure - a Keep ReclaimSuffices',
      ],
    ],
    [
      'evicts what the reclaim leaves',
      [{ images: images.slice(0, 1) }],
      [x, 'nodepressure 2 a Evict nodefs.available'],
    ],
    [
      'evicts nobody while a later pass may remove more',
      [{ images }, { imageGC: imageRule({ minimumAgeMs: 0, maxImagesPerPass: 1 }) }],
      [x, 'nodepressure - a Keep Reclaiming'],
    ],
    [
      'evicts at once where no rule allows a reclaim',
      [{ images }, { imageGC: undefined, containerGC: undefined }],
      ['nodepressure 1 a Evict nodefs.available'],
    ],
    [
      'removes no image of another disk',
      [{ images, containers, ...onDisk({ dedicatedImageFs: true }) }, two],
      ['nodepressure 1 old Remove nodefs.available', 'nodepressure 2 a Evict nodefs.available'],
    ],
    [
      'of several signals, frees the rest for the later ones',
      [
        {
          images,
          ...onDisk({ signals: [reading(), reading({ signal: 'imagefs.available', available: 60 * mib })] }),
        },
        { nodePressure: pressed(['nodefs.available', 'imagefs.available']) },
      ],
      [x, y, 'nodepressure 3 z Remove imagefs.available', 'nodepressure - a Keep ReclaimSuffices'],
    ],
  ])('%s', (_, fixture, expected) => {
    expect(reclaimed(reclaiming(...fixture))).toEqual(expected);
  });

  test('a pod waits for the grace period only where the reclaim does not suffice', () => {
    const waiting = (part: Fixture['part']) =>
      decided({ ...reclaiming(part), assumeElapsed: false }, 'nodepressure').find(
        ({ object }) => object.kind === 'Pod',
      );
    expect(waiting({ images })).toMatchObject({ reason: 'ReclaimSuffices', eligibleAt: null });
    expect(waiting({ images: [] })).toMatchObject({
      reason: 'Reclaiming',
      eligibleAt: '2026-01-15T12:01:00Z',
    });
  });

  test('counts the objects once, in the unit that has their reason', () => {
    const fixture = reclaiming({ images, containers }, two);
    expect(totals(fixture, 'nodepressure')).toMatchObject({
      ...{ planned: 3, kept: pods.length, warned: 1, bytes: 80 * mib },
      reasons: { 'nodefs.available': 3, ReclaimSuffices: 1 },
    });
    expect(totals(fixture, 'imagegc')).toMatchObject({ planned: 0, kept: 1 });
    expect(totals(fixture, 'containergc')).toMatchObject({ planned: 0, kept: 1 });
  });

  test('a policy in mode DryRun gives the same decisions', () => {
    const fixture = reclaiming({ images, containers }, two);
    const policies = fixture.policies?.map((one): Policy => ({ ...(one as Policy), mode: 'DryRun' }));
    expect(reclaimed({ ...fixture, policies: policies ?? [] })).toEqual(reclaimed(fixture));
  });
});
