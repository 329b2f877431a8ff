import { load } from 'js-yaml';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Decision } from '../../src/commands/plan/document.ts';
import { dustpan, list, planned, policy, Scene } from './plan.bed.ts';

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});
afterEach(() => {
  scene.remove();
});

const use = (example: string): void => {
  scene.remove();
  scene = new Scene(example);
};
const plan = (...args: string[]) => planned([...scene.args, ...args]);
const goes = ({ decisions }: { readonly decisions: readonly Decision[] }): string[] =>
  decisions.filter(({ order }) => order !== null).map(idOf);
const idOf = ({ reason, object }: Decision): string =>
  `${reason} ${object.kind === 'Pod' ? object.name : (object.id ?? object.path ?? '').slice(0, 8)}`;
const keptFor = ({ decisions }: { readonly decisions: readonly Decision[] }, unit: string): string[] =>
  decisions.filter((one) => one.unit === unit && one.verdict === 'Keep').map(({ reason }) => reason);

describe('a missing file is not known, and everything stays', () => {
  test('without nodes no pod is an orphan', async () => {
    use('node-vanished');
    scene.drop('snapshot/nodes.json');
    const told = await plan('--assume-quarantine-elapsed');
    expect(goes(told)).toEqual(['Unscheduled never-placed']);
    expect(told.notes.join()).toContain('Nodes are not known');
    expect(told.notes.at(-1)).toMatch(/^Snapshot \S+ has no nodes\.json\.$/);
  });

  test('an empty list of nodes is no node', async () => {
    use('node-vanished');
    scene.write('snapshot/nodes.json', list('Node', []));
    const told = await plan('--assume-quarantine-elapsed');
    expect(told.totals[0]?.tripped).toEqual({ default: 100 });
    expect(goes(told)).toEqual(['Unscheduled never-placed']);
  });

  test('without namespaces no pod goes', async () => {
    use('terminated-over-threshold');
    scene.drop('snapshot/namespaces.json');
    const told = await plan('--kept');
    expect(goes(told)).toEqual([]);
    expect(new Set(keptFor(told, 'podgc'))).toEqual(new Set(['NamespaceUnknown']));
  });

  test.each([
    { file: 'pods.json', because: 'PodsUnknown' },
    { file: 'nodes/node-1/containers.json', because: 'ContainersUnknown' },
  ])('without $file no image goes', async ({ file, because }) => {
    use('image-disk-full');
    scene.drop(`snapshot/${file}`);
    const told = await plan('--kept');
    expect(goes(told)).toEqual([]);
    expect(keptFor(told, 'imagegc')).toContain(because);
    expect(told.summary).toMatchObject([{ unit: 'imagegc', state: 'Unknown', plannedBytes: 0 }]);
    expect(told.totals).toContainEqual(
      expect.objectContaining({ unit: 'imagegc', state: 'Unknown', planned: 0 }),
    );
  });

  test('with no pod at all even the image of a pod that starts may go, not that of a container', async () => {
    use('image-disk-full');
    scene.write('snapshot/pods.json', list('Pod', []));
    const told = await plan('--kept');
    expect(goes(told)).toHaveLength(3);
    expect(keptFor(told, 'imagegc')).toContain('InUse');
  });

  test('without statistics no image goes for space', async () => {
    use('image-disk-full');
    scene.drop('snapshot/nodes/node-1/stats.json');
    const told = await plan('--kept');
    expect(goes(told)).toEqual([]);
    expect(keptFor(told, 'imagegc')).toContain('DiskUnknown');
    expect(told.summary[0]).toMatchObject({ usedPercent: null, state: 'Unknown' });
  });

  test('without a state file every image is new', async () => {
    use('image-disk-full');
    scene.drop('snapshot/nodes/node-1/state.json');
    const told = await plan('--kept');
    expect(goes(told)).toEqual([]);
    expect(keptFor(told, 'imagegc')).toContain('TooYoung');
  });

  test('a state file of the future counts as none, and that is said', async () => {
    use('image-disk-full');
    scene.write('snapshot/nodes/node-1/state.json', { version: 2 });
    const told = await plan();
    expect(goes(told)).toEqual([]);
    expect(told.notes.join()).toContain('version: is 2, known is 1');
  });

  test.each([
    { file: 'pods.json', left: ['DeadContainer crash-0', 'DeadContainer crash-1', 'BrokenLink /var/log'] },
    { file: 'nodes/node-1/sandboxes.json', left: ['BrokenLink /var/log'] },
    { file: 'nodes/node-1/containers.json', left: [] },
    { file: 'nodes.json', left: [] },
  ])('without $file no pod is gone', async ({ file, left }) => {
    use('dead-containers');
    scene.drop(`snapshot/${file}`);
    if (file === 'nodes.json') expect((await plan()).notes.join()).toContain('Nodes are not known');
    expect(goes(await plan('--assume-quarantine-elapsed'))).toEqual(left);
  });

  test('without policies nothing goes, and that is said', async () => {
    use('terminated-over-threshold');
    const told = await planned([`--snapshot=${scene.path('snapshot')}`]);
    expect({ ...told, notes: [] }).toMatchObject({ decisions: [], summary: [], totals: [], policies: [] });
    expect(told.notes).toEqual([
      'No policies are known: nothing would be removed.',
      `Snapshot ${scene.path('snapshot')} has no policies.json.`,
    ]);
  });
});

describe('what waits for time', () => {
  test('a gone pod is seen gone once: it waits for the next pass', async () => {
    use('dead-containers');
    const told = await plan('--kept');
    expect(goes(told)).toEqual(['DeadContainer crash-0', 'DeadContainer crash-1', 'BrokenLink /var/log']);
    const waiting = told.decisions.filter(({ reason }) => reason === 'Quarantined');
    expect(waiting.map(({ eligibleAt }) => eligibleAt)).toEqual(Array(2).fill('2026-01-15T12:01:00Z'));
    expect(told.totals[0]).toMatchObject({ unit: 'containergc', waiting: 2 });
  });

  test('the totals count it with and without --kept', async () => {
    use('quarantine-not-begun');
    const expected = { unit: 'podgc', node: null, planned: 1, kept: 3, waiting: 1 };
    expect((await plan()).totals).toMatchObject([expected]);
    expect((await plan('--kept')).totals).toMatchObject([expected]);
    expect((await plan()).decisions).toHaveLength(1);
  });
});

test.each([
  { name: 'a directory that is no absolute path', listing: { complete: true, directories: ['a'] } },
  { name: 'no list of directories', listing: { complete: true } },
])('$name is one line and exit code 2', async ({ listing }) => {
  use('dead-containers');
  scene.write('snapshot/nodes/node-1/loglisting.json', listing);
  const { code, stdout, stderr } = await dustpan(['plan', ...scene.args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/loglisting\.json: directories(\[0\])?: must be an? (absolute path|list)/);
});

describe('policies', () => {
  test('come from the snapshot when no file is given', async () => {
    use('terminated-over-threshold');
    scene.write(
      'snapshot/policies.yaml',
      'kind: List\nitems:\n- apiVersion: gc.dustpan.dev/v1alpha1\n  kind: GCPolicy\n  metadata: {name: own}\n  spec: {pods: {terminated: {threshold: 4}}}\n',
    );
    const told = await planned([`--snapshot=${scene.path('snapshot')}`]);
    expect(told.decisions).toMatchObject([{ policy: 'own', mode: 'DryRun', order: 1 }]);
  });

  test('that their cluster stores shield where they cannot be followed; those that a person wrote are a mistake', async () => {
    use('terminated-over-threshold');
    const items = [policy('broken', { mode: 'Delete' }), policy('own', { pods: { terminated: {} } })];
    const args = [`--snapshot=${scene.path('snapshot')}`, '--kept'];
    scene.write('snapshot/policies.json', { kind: 'List', items, storedInvalid: ['broken'] });
    const told = await planned(args);
    expect(new Set(keptFor(told, 'podgc'))).toEqual(new Set(['InvalidPolicy']));
    expect(told.notes.join()).toContain('GCPolicy broken is invalid');
    scene.write('snapshot/policies.json', { kind: 'List', items });
    const { code, stdout, stderr } = await dustpan(['plan', ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/policies\.json: items\[0\]\.spec\.mode: must be one of DryRun, Enforce/);
  });

  test('of several files are all there, and the highest priority governs', async () => {
    use('terminated-over-threshold');
    const rule = { terminated: { threshold: 4 } };
    scene.write(
      'strong.json',
      policy('strong', { priority: 1, pods: { ...rule, excludeNamespaces: ['web'] } }),
    );
    const told = await plan(`--policy=${scene.path('strong.json')}`);
    expect(new Set(told.decisions.map(({ policy: name }) => name))).toEqual(new Set());
    const kept = await plan(`--policy=${scene.path('strong.json')}`, '--kept');
    expect(new Set(kept.decisions.map(({ policy: name }) => name))).toEqual(new Set(['strong', 'default']));
  });
});

test('a label that a selector reads is kept of the pods', async () => {
  use('terminated-over-threshold');
  const pods = {
    podSelector: { matchLabels: { team: 'a' } },
    terminated: { ttlAfterFinished: '0s', threshold: 0 },
  };
  scene.write('policy.json', policy('p', { pods }));
  const pod = (name: string, team: string) => ({
    metadata: {
      name,
      namespace: 'web',
      uid: name,
      creationTimestamp: '2026-01-15T03:00:00Z',
      labels: { team },
    },
    status: { phase: 'Succeeded' },
  });
  scene.write('snapshot/pods.json', list('Pod', [pod('mine', 'a'), pod('theirs', 'b')]));
  expect(goes(await plan())).toEqual(['Expired mine']);
});

test('JSON and YAML say the same', async () => {
  use('image-disk-full');
  const { stdout } = await dustpan(['plan', ...scene.args, '--kept', '-o', 'yaml']);
  expect(load(stdout)).toEqual(await plan('--kept'));
});

test('every decision has every field of the document, and a sentence', async () => {
  for (const example of [
    'dead-containers',
    'image-disk-full',
    'node-vanished',
    'terminated-over-threshold',
  ]) {
    use(example);
    for (const one of (await plan('--kept')).decisions) {
      expect(Object.keys(one)).toEqual(
        expect.arrayContaining([
          'unit',
          'verdict',
          'reason',
          'policy',
          'mode',
          'order',
          'object',
          'eligibleAt',
          'bytes',
          'detail',
        ]),
      );
      expect(one.detail).toMatch(/^[A-Za-z].*[.]$/);
      expect(one.detail).not.toMatch(/undefined|NaN|\(\)/);
    }
  }
});

test('the table fits 80 columns and says the trouble first', async () => {
  for (const example of [
    'dead-containers',
    'image-disk-full',
    'node-vanished',
    'terminated-over-threshold',
  ]) {
    use(example);
    const { code, stdout } = await dustpan(['plan', ...scene.args, '--kept']);
    expect(code).toBe(0);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(stdout).not.toContain('\u001b');
  }
  use('image-disk-full');
  const { stdout } = await dustpan(['plan', ...scene.args]);
  expect(stdout.split('\n')[2]).toMatch(/^! imagegc on node-1: the image file system is 90 % full/);
});
