import { expect, test } from 'vitest';
import { dustpan, inputOfEachTest, list, policy } from './fixture.ts';

const example = 'image-disk-full';
const input = inputOfEachTest(example);

/** What a case writes, by path; undefined = the file or directory is removed. */
type Files = Readonly<Record<string, unknown>>;

const pods = (content: unknown): Files => ({ 'snapshot/pods.json': content });
const yamlPods = (text: string): Files => ({ 'snapshot/pods.json': undefined, 'snapshot/pods.yaml': text });
const onePod = (metadata: object, rest: object = {}): Files => pods(list('Pod', [{ metadata, ...rest }]));
const known = { name: 'a', namespace: 'web', uid: 'u' };
const aPod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } };
const given = (content: unknown): Files => ({ 'policy.json': content });
const ofNode = (name: string, content: unknown): Files => ({
  [`snapshot/nodes/node-1/${name}.json`]: content,
});
const record = (content: object): Files => ({ 'snapshot/snapshot.json': content });
const stats = (content: object): Files => ofNode('stats', content);
const statsOf = (pod: object): Files => stats({ node: {}, pods: [pod] });

const cases: Readonly<Record<string, Files>> = {
  'a missing policy file': given(undefined),
  'a missing snapshot': { snapshot: undefined },
  'a directory that is not a snapshot': { snapshot: undefined, 'snapshot/package.json': '{}' },
  'an empty file': pods(''),
  'an empty policy': given(' \n'),
  'a list that is cut off inside an item': pods('{"kind":"List","items":[{"metadata":{"na'),
  'an item that is not JSON': pods('{"kind":"List","items":[{"metadata":nil}]}'),
  'YAML that is too large to be read as a whole': yamlPods(
    `kind: List\nitems: []\n#${' '.repeat(9_000_000)}`,
  ),
  'invalid YAML': yamlPods('a: ['),
  'JSON and YAML for one list': { 'snapshot/pods.yaml': 'kind: List' },

  'a List of the wrong kind': pods({ kind: 'NodeList', items: [] }),
  'a List with an item of the wrong kind': pods(list('Node', [{ metadata: { name: 'a', uid: 'u' } }])),
  'a List without items': pods({ kind: 'List' }),
  'an item that is not an object': pods('{"kind":"List","items":[7]}'),
  'a pod without a UID': onePod({ name: 'a', namespace: 'web' }),
  'a phase that is not a text': onePod(known, { status: { phase: 7 } }),
  'an invalid creation time': onePod({ ...known, creationTimestamp: 'yesterday' }),

  'a policy of another version': given({ ...policy('a', {}), apiVersion: 'gc.dustpan.dev/v2' }),
  'another kind than a policy': given(aPod),
  'the kind in the wrong case': given({ ...policy('a', {}), kind: 'GcPolicy' }),
  'another kind among the policies of a snapshot': { 'snapshot/policies.json': aPod },
  'an invalid policy that the cluster has not stored': {
    'snapshot/policies.json': list('GCPolicy', [policy('broken', { mode: 'Delete' })]),
  },

  'a record of a snapshot with a time that is none': record({ takenAt: 'yesterday' }),
  'a record with a namespace that is not a text': record({ namespace: 1 }),
  'a record that is a list': record([]),

  'a node folder without a node': { 'snapshot/nodes/node-9/images.json': { images: [] } },
  'a size that is not a number': ofNode('images', { images: [{ id: 'a', size: '5Gi' }] }),
  'a container state that is a number': ofNode('containers', { containers: [{ id: 'a', state: 1 }] }),
  'a sandbox without a state': ofNode('sandboxes', { items: [{ id: 'a' }] }),
  'a state file with an invalid time': ofNode('state', {
    version: 1,
    images: { a: { firstDetected: 'once' } },
  }),
  'a log with a relative path': ofNode('logs', [{ path: 'a.log', bytes: 1, mtime: '2026-01-15T12:00:00Z' }]),
  'a log directory with a relative path': {
    ...ofNode('logs', []),
    ...ofNode('loglisting', { complete: true, directories: ['a'] }),
  },

  'statistics that are cut off': ofNode('stats', '{"node":'),
  'statistics with pods as an object': stats({ node: {}, pods: {} }),
  'statistics of a pod without a UID': statsOf({ podRef: {} }),
  'statistics with bytes as a text': statsOf({
    podRef: { uid: 'a' },
    volume: [{ name: 'tmp', usedBytes: '5Gi' }],
  }),
  'statistics with a file system as a list': stats({ node: { runtime: { containerFs: [] } } }),
  'statistics with a time that is none': stats({ node: { fs: { time: 'now' } } }),

  'several problems of policies, each in its own line': given({
    kind: 'List',
    items: [
      policy('a', { mode: 'Off', pods: { terminated: { treshold: 1 }, outOfSerivce: {} } }),
      policy('b', { nodes: { imageGC: { lowThresholdPercent: 90, bogus: 1 } } }),
      policy('a', {}),
      { ...policy('c', {}), kind: 'Pod', status: {} },
      { ...policy('d', {}), sepc: {} },
    ],
  }),
};

/** What the command writes to standard error, with paths relative to the input. */
async function problemsWith(files: Files, ...args: readonly string[]): Promise<string> {
  for (const [name, content] of Object.entries(files))
    if (content === undefined) input.drop(name);
    else input.write(name, content);
  const { code, stdout, stderr } = await dustpan(['plan', ...input.args, ...args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  // What V8 says depends on its version.
  return stderr.replaceAll(input.path(''), '').replaceAll(/(is not JSON(, or is cut off)?): .*/g, '$1');
}

test('bad input is exit code 2, no output, and one line for each problem', async () => {
  const texts: string[] = [];
  for (const [name, files] of Object.entries(cases)) {
    input.use(example);
    const stderr = await problemsWith(files);
    expect(stderr, name).toMatch(/^(dustpan: [^\n]+\n)+$/);
    texts.push(`# ${name}\n\n${stderr}`);
  }
  await expect(texts.join('\n')).toMatchFileSnapshot('./__snapshots__/bad-input.txt');
});

test('reports the problems of all files', async () => {
  const files = {
    'policy.json': policy('a', { mode: 'Off' }),
    'second.json': policy('b', { priority: 'x' }),
  };
  const stderr = await problemsWith(files, `--policy=${input.path('second.json')}`);
  expect(stderr.match(/^dustpan: \/\w+\.json: spec\.\w+/gm)).toEqual([
    ...['dustpan: /policy.json: spec.mode', 'dustpan: /second.json: spec.priority'],
  ]);
});
