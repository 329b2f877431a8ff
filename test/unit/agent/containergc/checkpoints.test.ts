import { describe, expect, test } from 'vitest';
import { checkpointInventory } from '../../../../src/agent/containergc/checkpoints.ts';
import type { ContainerGcFacts } from '../../../../src/agent/containergc/facts.ts';
import { planContainerGc } from '../../../../src/agent/containergc/plan.ts';
import { explainContainer } from '../../../../src/agent/containergc/words.ts';
import { recheck } from '../../../../src/agent/containergc/recheck.ts';
import type { NodeGovernance } from '../../../../src/api/policy/node-governance.ts';
import type { CheckpointsPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import type { CheckpointFile, CheckpointListing } from '../../../../src/node/storage/checkpoints.ts';
import { minutesAgo, nodesRules, now, policy } from '../../../builders.ts';
import { container } from '../../../fakes/runtime.ts';
import { governedNode, keptBy } from '../builders.ts';
import { factsOf, noCheckpointLimits } from './builders.ts';
import { Node } from './environment.ts';

const root = '/var/lib/kubelet/checkpoints';
const hour = 60;

/** An archive that was written so many minutes ago, and is named so; `suffix` tells archives of one time apart. */
const archive = (
  minutes: number,
  over: Partial<CheckpointFile> & { readonly of?: string } = {},
): CheckpointFile => {
  const { of = 'web_prod-main', ...rest } = over;
  const writtenMs = minutesAgo(minutes);
  const time = new Date(writtenMs).toISOString().replace('.000Z', 'Z');
  return { path: `${root}/checkpoint-${of}-${time}.tar`, isFile: true, bytes: 100, writtenMs, ...rest };
};

const listing = (
  files: readonly CheckpointFile[],
  over: Partial<CheckpointListing> = {},
): CheckpointListing => ({
  ...{ files, complete: true, isReadOnly: false, isApart: false, ...over },
});

const governedBy = (over: Partial<CheckpointsPolicy>): NodeGovernance =>
  governedNode({ checkpoints: { ...noCheckpointLimits, ...over } });

interface Given {
  readonly rule?: Partial<CheckpointsPolicy>;
  readonly governance?: NodeGovernance;
  readonly facts?: Partial<ContainerGcFacts>;
  readonly isReadOnly?: boolean;
}

const planned = (files: readonly CheckpointFile[], given: Given = {}) => {
  const { rule = { maxPerPod: 0 }, governance = governedBy(rule), facts, isReadOnly = false } = given;
  const all = { ...factsOf({}), checkpoints: listing(files, { isReadOnly }), ...facts };
  return { all, plan: planContainerGc(all, { governance, now }) };
};

/** By age in minutes, newest first: `60 OldCheckpoint maxAge`. */
function verdicts(files: readonly CheckpointFile[], given?: Given): readonly string[] {
  const { removals, kept } = planned(files, given).plan;
  return [...removals, ...kept]
    .filter(({ target }) => target.kind === 'Checkpoint')
    .map((one) => {
      const { target, reason } = one;
      const { writtenMs = 0 } = 'file' in target ? target.file : {};
      const minutes = (now.getTime() - writtenMs) / 60_000;
      return { minutes, text: `${minutes} ${reason}${'limit' in one ? ` ${one.limit}` : ''}` };
    })
    .toSorted((a, b) => a.minutes - b.minutes)
    .map(({ text }) => text);
}

describe('limits', () => {
  const three = [archive(3 * hour), archive(1 * hour), archive(2 * hour)];

  test.each<[name: string, rule: Partial<CheckpointsPolicy>, expected: readonly string[]]>([
    ['none', {}, ['60 UnderLimit', '120 UnderLimit', '180 UnderLimit']],
    ['a number', { maxPerPod: 2 }, ['60 UnderLimit', '120 UnderLimit', '180 OldCheckpoint maxPerPod']],
    [
      'an age',
      { maxAgeMs: 2 * 3_600_000 },
      ['60 UnderLimit', '120 OldCheckpoint maxAge', '180 OldCheckpoint maxAge'],
    ],
    ['bytes', { maxBytes: 200 }, ['60 UnderLimit', '120 UnderLimit', '180 OldCheckpoint maxBytes']],
    [
      'fewer bytes than one archive has: the newest of the node stays',
      { maxBytes: 0 },
      ['60 UnderLimit', '120 OldCheckpoint maxBytes', '180 OldCheckpoint maxBytes'],
    ],
    [
      'bytes that are free after the other limits',
      { maxAgeMs: 3 * 3_600_000, maxBytes: 200 },
      ['60 UnderLimit', '120 UnderLimit', '180 OldCheckpoint maxAge'],
    ],
  ])('%s', (_, rule, expected) => {
    expect(verdicts(three, { rule })).toEqual(expected);
  });

  test('bytes are freed by the oldest that no other limit removes', () => {
    const files = [archive(60), archive(120), archive(180), archive(240)];
    expect(verdicts(files, { rule: { maxAgeMs: 4 * 3_600_000, maxBytes: 150 } })).toEqual([
      '60 UnderLimit',
      '120 OldCheckpoint maxBytes',
      '180 OldCheckpoint maxBytes',
      '240 OldCheckpoint maxAge',
    ]);
  });

  test.each<[name: string, rule: Partial<CheckpointsPolicy>, newest: CheckpointFile, first: string]>([
    ['a number, the newest may be incomplete', { maxPerPod: 1 }, archive(5), '5 UnderLimit'],
    ['a number, the newest is from the future', { maxPerPod: 1 }, archive(-60), '-60 UnderLimit'],
    ['bytes, the newest may be incomplete', { maxBytes: 150 }, archive(5), '5 UnderLimit'],
    ['bytes, the newest is from the future', { maxBytes: 150 }, archive(-60), '-60 UnderLimit'],
  ])('the newest complete archive stays: %s', (_, rule, newest, first) => {
    const limit = Object.keys(rule).join('');
    expect(verdicts([newest, archive(60), archive(120)], { rule })).toEqual([
      first,
      '60 UnderLimit',
      `120 OldCheckpoint ${limit}`,
    ]);
  });

  test('of equal age the order is fixed', () => {
    const [a, b] = [archive(60, { of: 'a_prod-main' }), archive(60, { of: 'b_prod-main' })];
    for (const files of [
      [a, b],
      [b, a],
    ])
      expect(planned(files, { rule: { maxBytes: 100 } }).plan.removals).toMatchObject([
        { target: { path: a.path } },
      ]);
  });

  test('count for each container of a pod, bytes for the node', () => {
    const files = [archive(60), archive(90, { of: 'web_prod-side' }), archive(120, { of: 'web2_prod-main' })];
    expect(verdicts(files, { rule: { maxPerPod: 1 } })).toEqual([
      '60 UnderLimit',
      '90 UnderLimit',
      '120 UnderLimit',
    ]);
    expect(verdicts(files, { rule: { maxBytes: 200 } })[2]).toBe('120 OldCheckpoint maxBytes');
  });

  test('the later of the time in the name and the last write is the age', () => {
    const named = archive(120, { path: archive(50).path });
    const written = { ...archive(50), path: archive(120).path };
    const rule = { maxAgeMs: 3_600_000 };
    expect(verdicts([named], { rule })).toEqual(['120 UnderLimit']);
    expect(verdicts([written], { rule })).toEqual(['50 UnderLimit']);
    const [kept] = planned([written], { rule }).plan.kept;
    expect(kept?.eligibleAt?.getTime()).toBe(minutesAgo(50) + 3_600_000);
  });

  test('what is kept for another reason counts, and nothing else goes in its place', () => {
    const pods = [
      { uid: 'x', configHash: undefined, name: 'db', namespace: 'prod', isOptedOut: true, images: [] },
    ];
    const files = [archive(60), archive(120), archive(180, { of: 'db_prod-main', bytes: 1000 })];
    expect(verdicts(files, { rule: { maxBytes: 1050 }, facts: { pods } })).toEqual([
      '60 UnderLimit',
      '120 OldCheckpoint maxBytes',
      '180 KeepMarked',
    ]);
  });
});

describe('is kept', () => {
  const old = archive(60);
  const pod = { uid: 'x', configHash: undefined, name: 'web', namespace: 'prod', images: [] };
  test.each<[name: string, reason: string, file: CheckpointFile, given?: Given]>([
    ['written just now', 'TooYoung', archive(9)],
    ['written in the future', 'TooYoung', archive(-60)],
    ['while the clock is unsure', 'ClockUnsure', old, { facts: { clockUnsure: true } }],
    ['of a pod that is opted out', 'KeepMarked', old, { facts: { pods: [{ ...pod, isOptedOut: true }] } }],
    ['named by a pod', 'InUse', old, { facts: { pods: [{ ...pod, images: [old.path] }] } }],
    [
      'named by a pod by another path of the directory',
      'InUse',
      old,
      { facts: { pods: [{ ...pod, images: [old.path.replace('/var/lib', '/data')] }] } },
    ],
    [
      'while the images of a pod are unknown',
      'InUse',
      old,
      { facts: { pods: [{ ...pod, images: undefined }] } },
    ],
    [
      'named by a container',
      'InUse',
      old,
      { facts: { containers: [container('c', { imageId: 'sha256:x', imageRef: old.path })] } },
    ],
    [
      'the image of a container',
      'InUse',
      old,
      { facts: { containers: [container('c', { imageId: old.path })] } },
    ],
    ['while pods are unknown', 'PodsUnknown', old, { facts: { pods: undefined } }],
    ['while containers are unknown', 'ContainersUnknown', old, { facts: { containers: undefined } }],
    ['in a read-only directory', 'ReadOnly', old, { isReadOnly: true }],
    [
      'under a limit in a read-only directory',
      'UnderLimit',
      old,
      { isReadOnly: true, rule: { maxPerPod: 1 } },
    ],
    ['without a rule', 'RuleOff', old, { governance: governedNode({}) }],
    ['without a policy', 'NoPolicy', old, { governance: keptBy('NoPolicy') }],
    ['on a node that is opted out', 'KeepMarked', old, { governance: keptBy('KeepMarked') }],
  ])('%s: %s', (_, reason, file, given) => {
    expect(verdicts([file], given).map((text) => text.split(' ')[1])).toEqual([reason]);
  });

  test('dated before there were checkpoints: its age is unknown, and it does not displace others', () => {
    const minutes = now.getTime() / 60_000;
    const files = [archive(minutes - 2), archive(minutes - 1), archive(60), archive(120)];
    const unsure = [`${minutes - 2} ClockUnsure`, `${minutes - 1} ClockUnsure`];
    expect(verdicts(files, { rule: { maxAgeMs: 7_200_000 } })).toEqual([
      '60 UnderLimit',
      '120 OldCheckpoint maxAge',
      ...unsure,
    ]);
    expect(verdicts(files, { rule: { maxPerPod: 2 } })).toEqual([
      '60 UnderLimit',
      '120 UnderLimit',
      ...unsure,
    ]);
    const { plan } = planned(files.slice(0, 1));
    expect(plan.kept.map((one) => explainContainer(one, plan).detail)).toEqual([
      expect.stringContaining('was not set when it was made'),
    ]);
    const [written] = [{ ...archive(60), path: archive(minutes).path }];
    expect(verdicts([written])).toEqual(['60 OldCheckpoint maxPerPod']);
  });

  test('a jump of the clock does not make it older', () => {
    const facts = { jumps: [{ untilMs: minutesAgo(60), ms: 50 * 60_000 }] };
    expect(verdicts([archive(60)], { facts, rule: { maxAgeMs: 3_600_000 } })).toEqual(['60 UnderLimit']);
    expect(
      verdicts([archive(55)], { facts: { jumps: [{ untilMs: now.getTime(), ms: 50 * 60_000 }] } }),
    ).toEqual(['55 TooYoung']);
  });

  test.each([
    'checkpoint-web_prod-main-2026-01-01T00:00:00Z.tar.gz',
    'checkpoint-web_prod-main-2026-01-01T00:00:00.tar',
    'checkpoint-web_prod-main-2026-02-30T00:00:00Z.tar',
    'checkpoint-web_prod-main-2026-01-01T25:00:00Z.tar',
    'checkpoint-web_prod-2026-01-01T00:00:00Z.tar.tar',
    'checkpoint-web-main-2026-01-01T00:00:00Z.tar',
    'checkpoint-web_prod-2026-01-01T00:00:00Z.tar',
    'checkpoint-_prod-main-2026-01-01T00:00:00Z.tar',
    'Checkpoint-web_prod-main-2026-01-01T00:00:00Z.tar',
    'tmp.checkpoint-web_prod-main-2026-01-01T00:00:00Z.tar',
    'notes.txt',
  ])('%s is none of the kubelet', (name) => {
    expect(verdicts([{ ...archive(60), path: `${root}/${name}` }])).toEqual(['60 NotKubelets']);
  });

  test('a link or a directory with a name of the kubelet', () => {
    expect(verdicts([archive(60, { isFile: false })])).toEqual(['60 NotKubelets']);
  });

  test.each(['a.b-1_kube-system-c--d', 'web_prod-main'])('%s is a name of the kubelet', (of) => {
    expect(verdicts([archive(60, { of })])).toEqual(['60 OldCheckpoint maxPerPod']);
    const time = '2026-01-01T00:00:00+05:30';
    expect(verdicts([{ ...archive(60), path: `${root}/checkpoint-${of}-${time}.tar` }])).toEqual([
      '60 OldCheckpoint maxPerPod',
    ]);
  });
});

test('an unknown directory has no decisions, and no inventory', () => {
  const { all, plan } = planned([], { facts: { checkpoints: undefined } });
  expect([...plan.removals, ...plan.kept]).toEqual([]);
  expect(checkpointInventory(all, plan)).toBeUndefined();
});

test('the inventory counts archives, not other entries', () => {
  const files = [archive(60), archive(120), { ...archive(60), path: `${root}/x` }];
  const { all, plan } = planned(files, { rule: { maxPerPod: 1 }, facts: { containers: [container('c')] } });
  expect(checkpointInventory(all, plan)).toEqual({
    ...{ total: 2, bytes: 200, removable: 1, removableBytes: 100, isReadOnly: false, isApart: false },
  });
  const readOnly = planned(files, { rule: { maxPerPod: 1 }, isReadOnly: true });
  expect(checkpointInventory(readOnly.all, readOnly.plan)).toMatchObject({ removable: 0, isReadOnly: true });
});

describe('right before a removal', () => {
  const old = archive(60);
  const [removal] = planned([old]).plan.removals;
  const view = { containers: [], sandboxes: [], pods: [], isCacheSynced: true, now };
  const pod = { uid: 'x', configHash: undefined, name: 'web', namespace: 'prod', images: [] };

  test.each<[name: string, over: Partial<Parameters<typeof recheck>[1]>, verdict: string]>([
    ['nothing needs it', { pods: [pod] }, 'due'],
    ['a pod names it', { pods: [{ ...pod, images: [old.path] }] }, 'InUse'],
    ['its pod is opted out', { pods: [{ ...pod, isOptedOut: true }] }, 'KeepMarked'],
  ])('%s', (_, over, verdict) => {
    expect(removal && recheck(removal, { ...view, ...over })).toBe(verdict);
  });
});

describe('a pass', () => {
  const policyWith = (mode: Policy['mode'] = 'Enforce'): Policy => ({
    ...policy({ pods: undefined, mode }),
    nodes: nodesRules({ checkpoints: { ...noCheckpointLimits, maxPerPod: 1 } }),
  });
  const nodeWith = (by = policyWith()): Node => {
    const node = new Node(by);
    const at = (minutes: number) => ({
      ...archive(60),
      writtenMs: node.clock.now().getTime() - minutes * 60_000,
    });
    node.checkpoints.files.push(
      { ...at(60), path: `${root}/checkpoint-web_prod-main-1970-01-01T00:00:02Z.tar` },
      { ...at(120), path: `${root}/checkpoint-web_prod-main-1970-01-01T00:00:01Z.tar` },
    );
    return node;
  };

  test('removes what is over a limit, and reports it', async () => {
    const node = nodeWith();
    await node.pass();
    expect(node.checkpoints.removed).toEqual([`${root}/checkpoint-web_prod-main-1970-01-01T00:00:01Z.tar`]);
    expect(node.reports.at(-1)).toMatchObject({ result: 'Succeeded', removed: 1, freedBytes: 100 });
    expect(node.inventories.at(-1)?.checkpoints).toMatchObject({ total: 2, removable: 1 });
  });

  test('removes nothing in mode DryRun, and while the clocks differ', async () => {
    const dry = nodeWith(policyWith('DryRun'));
    await dry.pass();
    const skewed = nodeWith();
    skewed.live = { clockSkewMs: 3_600_000 };
    await skewed.pass();
    expect([...dry.checkpoints.removed, ...skewed.checkpoints.removed]).toEqual([]);
    expect(skewed.reports.at(-1)).toMatchObject({ result: 'Unknown' });
  });

  test('says that it could not list the directory, only if a policy needs it', async () => {
    const node = nodeWith();
    node.checkpoints.isBroken = true;
    await node.pass();
    const message = expect.stringContaining('directory checkpoints could not be listed') as string;
    expect(node.reports.at(-1)).toMatchObject({ result: 'Unknown', message });
    expect(node.warnings).toMatchObject([{ message: 'listing checkpoints failed' }]);
    expect(node.inventories.at(-1)?.checkpoints).toBeUndefined();
    const other = new Node();
    other.checkpoints.isBroken = true;
    await other.pass();
    expect(other.reports.at(-1)).toMatchObject({ result: 'Idle' });
  });

  test('of a directory with more entries than are read removes what is over a limit, and says so', async () => {
    const node = nodeWith();
    node.checkpoints.complete = false;
    await node.pass();
    expect(node.checkpoints.removed).toHaveLength(1);
    const message = expect.stringContaining('more entries than the agent reads') as string;
    expect(node.reports.at(-1)).toMatchObject({ result: 'Unknown', message });
    expect(node.inventories.at(-1)?.checkpoints).toBeUndefined();
    const other = new Node();
    other.checkpoints.complete = false;
    await other.pass();
    expect(other.reports.at(-1)).toMatchObject({ result: 'Idle' });
    expect(other.inventories.at(-1)?.checkpoints).toBeUndefined();
  });

  test('an archive of unknown age does not make the pass unknown', async () => {
    const node = nodeWith();
    const path = `${root}/checkpoint-web_prod-main-1970-01-01T00:00:03Z.tar`;
    node.checkpoints.files.push({ ...archive(60), path, writtenMs: 3000 });
    await node.pass();
    expect(node.checkpoints.removed).not.toContain(path);
    expect(node.reports.at(-1)).toMatchObject({ result: 'Succeeded' });
  });

  test('one warning names the Helm value while the directory is read-only', async () => {
    const node = nodeWith();
    node.checkpoints.isReadOnly = true;
    for (let i = 0; i < 3; i += 1) await node.pass();
    expect(node.checkpoints.removed).toEqual([]);
    const why = expect.stringContaining('set agent.checkpoints=true') as string;
    expect(node.warnings).toMatchObject([{ message: 'some resources cannot be removed', fields: { why } }]);
  });
});
