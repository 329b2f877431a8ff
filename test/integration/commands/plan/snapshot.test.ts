import { readFileSync, writeFileSync } from 'node:fs';
import { dump } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import type { Decision, PlanDocument } from '../../../../src/evaluation/plan/document.ts';
import { dustpan, list, planned, policy, inputOfEachTest } from './fixture.ts';

const input = inputOfEachTest();

const plan = (...args: string[]) => planned([...input.args, ...args]);
const removals = ({ decisions }: { readonly decisions: readonly Decision[] }): string[] =>
  decisions.filter(({ order }) => order !== null).map(idOf);
const idOf = ({ reason, object }: Decision): string =>
  `${reason} ${object.kind === 'Pod' ? object.name : (object.id ?? object.path ?? '').slice(0, 8)}`;
const keptFor = ({ decisions }: { readonly decisions: readonly Decision[] }, unit: string): string[] =>
  decisions.filter((one) => one.unit === unit && one.verdict === 'Keep').map(({ reason }) => reason);

describe('--policy', () => {
  const kept = { policy: 'empty', mode: 'Enforce' };
  const deleted = { policy: 'empty', before: 'Enforce', after: null };
  const added = { policy: 'default', before: null, after: 'Enforce' };
  test.each([
    { name: 'adds to the policies of the snapshot', flags: [], policies: [kept], modes: [added] },
    { name: 'replaces all on request', flags: ['--replace-policies'], policies: [], modes: [added, deleted] },
  ])('$name, and compares with them', async ({ flags, policies, modes }) => {
    input.use('terminated-over-threshold');
    const mode = 'Enforce';
    input.write('snapshot/policies.json', list('GCPolicy', [policy('empty', { mode })]));
    const { changes, decisions, policies: used } = await plan(...flags);
    expect(changes).toMatchObject({ less: [], modes });
    expect(changes?.more).toEqual(decisions.filter(({ order }) => order !== null));
    expect(changes?.more).not.toEqual([]);
    expect(used).toHaveLength(policies.length + 1);
    input.write(
      'snapshot/policies.json',
      list('GCPolicy', [policy('default', { mode }), policy('empty', {})]),
    );
    expect((await plan()).policies.map(({ name }) => name)).toEqual(['default', 'empty']);
  });

  /** As for kubectl. */
  const merged = `apiVersion: gc.dustpan.dev/v1alpha1
kind: GCPolicy
metadata: {name: merged}
spec: {pods: {terminated: {ttlByReason: [&a {phase: Failed, ttl: 1h}, {<<: *a, reason: Evicted}]}}}
`;
  test.each(['policy.yaml', 'policy.txt'])('skips objects of other kinds in %s', async (file) => {
    input.use('terminated-over-threshold');
    const other = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' } };
    const items = list('', [other, policy('second', {})]);
    const documents = [other, policy('first', {}), items].map((one) => dump(one)).concat(merged);
    input.write(file, `# Manifests\n---\n${documents.join('---\n')}`);
    const { policies } = await planned([...withoutPolicy(), '-f', input.path(file)]);
    expect(policies.map(({ name }) => name)).toEqual(['first', 'merged', 'second']);
  });
});

const withoutPolicy = (): string[] => input.args.filter((arg) => !arg.startsWith('--policy'));

describe('the time of a plan', () => {
  const withoutNow = (): string[] => input.args.filter((arg) => !arg.startsWith('--now'));
  const taken = { apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'Snapshot', takenAt: '2026-01-15T10:00:00Z' };

  test('is when the snapshot was taken, unless --now is given', async () => {
    input.use('terminated-over-threshold');
    input.write('snapshot/snapshot.json', taken);
    const plan = await planned(withoutNow());
    expect(plan.generatedAt).toBe('2026-01-15T10:00:00Z');
    expect(plan.notes.join()).not.toContain('was taken');
    expect((await planned(input.args)).generatedAt).toBe('2026-01-15T12:00:00Z');
    const why = await dustpan(['why', 'pod/report-1', '-n=batch', ...withoutNow(), '-o=json']);
    expect(why.stdout).toContain('"generatedAt": "2026-01-15T10:00:00Z"');
  });

  test('is later by a duration; a quarantine that has not begun starts then', async () => {
    input.use('quarantine-not-begun');
    input.write('snapshot/snapshot.json', taken);
    const later = [...withoutNow(), '--now=+1d'];
    const { generatedAt, decisions } = await planned([...later, '--kept']);
    expect(generatedAt).toBe('2026-01-16T10:00:00Z');
    const waiting = decisions.filter(({ reason }) => reason === 'Quarantined');
    expect(waiting.map(({ eligibleAt }) => eligibleAt)).toContain('2026-01-16T10:00:40Z');
    const elapsed = await planned([...later, '--assume-quarantine-elapsed']);
    expect(elapsed.decisions.filter(({ reason }) => reason === 'Orphaned')).toHaveLength(waiting.length);
  });
});

test.each([
  ['a time in the future is refused, with the remedy', 15, 2],
  ['a time in the future does not matter with --now', 15, 0, ['--now=2026-01-15T12:00:00Z']],
])('%s', async (_, minutes, code, flags = []) => {
  input.use('terminated-over-threshold');
  const takenAt = new Date(Date.now() + minutes * 60_000).toISOString();
  input.write('snapshot/snapshot.json', { takenAt });
  const result = await dustpan(['plan', `--snapshot=${input.path('snapshot')}`, ...flags]);
  expect(result.code).toBe(code);
  expect(result.stderr).toMatch(
    code === 0
      ? /^$/
      : /^dustpan: [^\n]*snapshot\.json: takenAt: \S+ is in the future, it is \S+ here; correct the clock of this machine or the time in the file, or add --now\n$/,
  );
});

test('a circuit breaker that the status of the policy reports as open is open, unless --policy replaces it', async () => {
  input.use('quarantine-not-begun');
  const own = withoutPolicy();
  const given = policy('given', { mode: 'Enforce', pods: { orphaned: {} } });
  const conditions = [{ type: 'Degraded', status: 'True', reason: 'Tripped' }];
  const elapsed = '--assume-quarantine-elapsed';
  input.write('snapshot/policies.json', list('GCPolicy', [given]));
  expect(removals(await planned([...own, elapsed])).join()).toContain('Orphaned');
  input.write('snapshot/policies.json', list('GCPolicy', [{ ...given, status: { conditions } }]));
  const open = await planned([...own, elapsed, '--kept']);
  expect(removals(open)).toEqual([]);
  expect(keptFor(open, 'podgc')).toContain('Tripped');
  input.write('given.json', given);
  expect(removals(await planned([...own, `-f${input.path('given.json')}`, elapsed])).join()).toContain(
    'Orphaned',
  );
});

test.each([
  [
    'no orphaned pod: pods of other namespaces may refer to more missing nodes',
    'quarantine-not-begun',
    'Orphaned',
  ],
  ['nothing of a pod that it lacks: the pod may exist', 'dead-containers', 'PodGone'],
])('a snapshot with the pods of one namespace removes %s', async (_, example, reason) => {
  input.use(example);
  expect(removals(await plan('--assume-quarantine-elapsed')).join()).toContain(reason);
  input.write('snapshot/snapshot.json', { namespace: 'team' });
  expect(removals(await plan('--assume-quarantine-elapsed')).join()).not.toContain(reason);
});

test('files from Windows may have CRLF and a byte order mark', async () => {
  input.use('terminated-over-threshold');
  const before = await plan();
  for (const file of ['policy.json', 'snapshot/pods.json', 'snapshot/nodes.json']) {
    const text = readFileSync(input.path(file), 'utf8');
    input.write(file, `\uFEFF${JSON.stringify(JSON.parse(text), undefined, 1).replaceAll('\n', '\r\n')}`);
  }
  expect(await plan()).toEqual(before);
});

test('a file in UTF-16 is refused with the way to mend it', async () => {
  input.use('terminated-over-threshold');
  writeFileSync(input.path('policy.json'), Buffer.from('\uFEFF{"kind":"List","items":[]}', 'utf16le'));
  const { code, stderr } = await dustpan(['plan', ...input.args]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^dustpan: .*policy.json: is UTF-16.*write it as UTF-8[^\n]*\n$/);
});

describe('a missing file counts as not known', () => {
  test('without nodes, no pod counts as orphaned', async () => {
    input.use('node-vanished');
    input.drop('snapshot/nodes.json');
    const result = await plan('--assume-quarantine-elapsed');
    expect(removals(result)).toEqual(['Unscheduled never-placed']);
    expect(result.notes.join()).toContain('Nodes are not known: ');
    expect(result.notes.at(-1)).toMatch(/^Snapshot \S+ has no nodes\.json\.$/);
  });

  test('an empty list of nodes opens the circuit breaker', async () => {
    input.use('node-vanished');
    input.write('snapshot/nodes.json', list('Node', []));
    const result = await plan('--assume-quarantine-elapsed');
    expect(result.totals[0]?.tripped).toEqual({ default: 100 });
    expect(removals(result)).toEqual(['Unscheduled never-placed']);
  });

  const [pods, images, containers] = ['terminated-over-threshold', 'image-disk-full', 'dead-containers'];
  const crashed = ['DeadContainer crash-0', 'DeadContainer crash-1', 'BrokenLink /var/log'];
  type Counts = Partial<PlanDocument['summary'][number]>;
  type Row = [example: string, file: string, left: readonly string[], reason?: string, summary?: Counts];
  test.each<Row>([
    [pods, 'namespaces.json', [], 'NamespaceUnknown'],
    [images, 'pods.json', [], 'PodsUnknown', { state: 'Unknown', plannedBytes: 0 }],
    [images, 'nodes/node-1/containers.json', [], 'ContainersUnknown', { state: 'Unknown', plannedBytes: 0 }],
    [images, 'nodes/node-1/stats.json', [], 'DiskUnknown', { state: 'Unknown', usedPercent: null }],
    [images, 'nodes/node-1/state.json', [], 'TooYoung', { state: 'Short' }],
    [containers, 'pods.json', crashed],
    [containers, 'nodes/node-1/sandboxes.json', ['BrokenLink /var/log']],
    [containers, 'nodes/node-1/containers.json', []],
    [containers, 'nodes.json', []],
  ])('%s without %s removes only %j', async (example, file, left, ...[reason, summary]) => {
    input.use(example);
    input.drop(`snapshot/${file}`);
    const result = await plan('--kept', '--assume-quarantine-elapsed');
    expect(removals(result)).toEqual(left);
    if (reason !== undefined) expect(result.decisions.map((one) => one.reason)).toContain(reason);
    if (summary === undefined) return;
    expect(result.summary).toMatchObject([{ unit: 'imagegc', ...summary }]);
    const { state } = summary;
    expect(result.totals).toContainEqual(
      expect.objectContaining({ unit: 'imagegc', state, planned: state === 'Unknown' ? null : 0 }),
    );
  });

  test('without the node and its report, what would be removed there is not known, in any format', async () => {
    input.use('image-disk-full');
    input.drop('snapshot/nodes/node-1');
    const { notes, unknown } = await plan();
    expect(notes).toEqual([expect.stringMatching(/^Snapshot \S+ has no .*nodegcreports\.json\.$/)]);
    expect(unknown).toMatchObject([{ what: 'nodes', policy: 'nodes', nodes: ['node-1'] }]);
    const sentence = /What would be removed on node node-1 is not known: take the snapshot/;
    const table = await dustpan(['plan', ...input.args, '--exit-code']);
    expect(table).toMatchObject({ code: 0, stdout: expect.stringMatching(sentence) as string });
    expect(table.stdout).not.toMatch(/nothing|0 more/i);
    const names = await dustpan(['plan', ...input.args, '-o', 'name']);
    expect(names).toMatchObject({ stdout: '', stderr: expect.stringMatching(sentence) as string });
    const { stdout } = await dustpan(['report', ...input.args, '-o', 'markdown']);
    expect(stdout).toMatch(sentence);
    expect(stdout).toContain('**? to remove** (? on nodes)');
    input.write('snapshot/nodegcreports.json', list('NodeGCReport', []));
    expect((await plan()).notes.join()).toContain('No node has reported yet');
  });

  test.each([
    ['jobs', 'protectUnfinishedJobs', true],
    ['replicasets', 'keepPerOwner', 1],
  ])('without %s, a policy with %s leaves pods open', async (file, field, value) => {
    input.use('terminated-over-threshold');
    input.write('policy.json', policy('p', { pods: { terminated: { [field]: value } } }));
    input.write('snapshot/jobs.json', list('Job', []));
    input.write('snapshot/replicasets.json', list('ReplicaSet', []));
    expect((await plan()).unknown).toEqual([]);
    input.drop(`snapshot/${file}.json`);
    const { notes, unknown } = await plan();
    expect(notes.join()).toContain(`has no ${file}.json.`);
    expect(notes.join()).toMatch(/(Jobs|ReplicaSets) are not known: /);
    expect(unknown).toMatchObject([{ what: 'pods', policy: 'p' }]);
  });

  test('a state file of a later version counts as missing, with a note', async () => {
    input.use('image-disk-full');
    input.write('snapshot/nodes/node-1/state.json', { version: 2 });
    const result = await plan();
    expect(removals(result)).toEqual([]);
    expect(result.notes.join()).toContain('version: is 2, this dustpan reads 1');
  });

  test('without policies, removes nothing, with a note', async () => {
    input.use('terminated-over-threshold');
    const result = await planned([`--snapshot=${input.path('snapshot')}`, '--now=2026-01-15T12:00:00Z']);
    expect(result).toMatchObject({ decisions: [], summary: [], totals: [], policies: [] });
    expect(result.notes.at(-1)).toBe(`Snapshot ${input.path('snapshot')} has no policies.json.`);
  });
});

test('an image that a workload wants is kept, by the list in the snapshot', async () => {
  input.use('image-disk-full');
  const imageGC = { pinWanted: true };
  input.write('policy.json', policy('nodes', { mode: 'Enforce', nodes: { imageGC } }));
  const unknown = await plan();
  expect(unknown.notes.join()).toContain('the snapshot has no wantedimages.json');
  const image = 'registry.example.com/train:old';
  const isOfImage = ({ object }: Decision): boolean => 'name' in object && object.name === image;
  expect(unknown.decisions.find(isOfImage)).toMatchObject({ verdict: 'Remove' });
  input.write('snapshot/wantedimages.json', {
    listedAtMs: Date.parse('2026-01-15T12:00:00Z'),
    images: [{ image, workload: 'CronJob batch/report', nodeSelector: {} }],
    omitted: 0,
  });
  const known = await plan('--kept');
  expect(known.notes.join()).not.toContain('pinWanted');
  expect(known.decisions.find(isOfImage)).toMatchObject({ verdict: 'Keep', reason: 'Wanted' });
});

test('an invalid policy that the cluster stored blocks deletions', async () => {
  input.use('terminated-over-threshold');
  const items = [policy('broken', { mode: 'Delete' }), policy('own', { pods: { terminated: {} } })];
  const args = [`--snapshot=${input.path('snapshot')}`, '--kept'];
  input.write('snapshot/policies.json', { kind: 'List', items, storedInvalid: ['broken'] });
  const result = await planned(args);
  expect(new Set(keptFor(result, 'podgc'))).toEqual(new Set(['InvalidPolicy']));
  expect(result.notes.join()).toContain('GCPolicy broken is invalid');
});

test('a selector can read any label of the pods in a snapshot', async () => {
  input.use('terminated-over-threshold');
  const terminated = { ttlAfterFinished: '0s', threshold: 0 };
  const pods = { podSelector: { matchLabels: { team: 'a' } }, terminated };
  input.write('policy.json', policy('p', { pods }));
  const common = { namespace: 'web', creationTimestamp: '2026-01-15T03:00:00Z' };
  const pod = (name: string, team: string) => ({
    metadata: { ...common, name, uid: name, labels: { team } },
    status: { phase: 'Succeeded' },
  });
  input.write('snapshot/pods.json', list('Pod', [pod('mine', 'a'), pod('theirs', 'b')]));
  expect(removals(await plan())).toEqual(['Expired mine']);
});

test('statistics without pods: their usage is not known, and none is evicted', async () => {
  input.use('storage-overrun');
  input.write('snapshot/nodes/node-1/stats.json', { node: {} });
  const { stdout } = await dustpan(['plan', ...input.args]);
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
    "Node node-1: the local storage usage of its pods is not known (the kubelet's /stats/summary): no pod is evicted or warned about.",
  );
  expect(stdout).toMatch(/\nWhat would be removed on node node-1 is not known\.\n$/);
});
