import { expect, test } from 'vitest';
import { dustpan, inputOfEachTest, list, policy } from './fixture.ts';

const example = 'image-disk-full';
const input = inputOfEachTest();

/** What a case writes, by path; undefined = the file or directory is removed. */
type Files = Readonly<Record<string, unknown>>;

const pods = (content: unknown): Files => ({ 'snapshot/pods.json': content });
const yamlPods = (text: string): Files => ({ 'snapshot/pods.json': undefined, 'snapshot/pods.yaml': text });
const onePod = (metadata: object): Files => pods(list('Pod', [{ metadata }]));
const given = (content: unknown): Files => ({ 'policy.json': content });
const ofNode = (name: string, content: unknown): Files => ({
  [`snapshot/nodes/node-1/${name}.json`]: content,
});
const stats = (content: object): Files => ofNode('stats', content);
const statsOf = (pod: object): Files => stats({ node: {}, pods: [pod] });

const cases: Readonly<Record<string, Files>> = {
  'a missing policy file': given(undefined),
  'a missing snapshot': { snapshot: undefined },
  'a directory that is not a snapshot': { snapshot: undefined, 'snapshot/package.json': '{}' },
  'an empty file': pods(''),
  'a list that is cut off inside an item': pods('{"kind":"List","items":[{"metadata":{"na'),
  'YAML that is too large to be read as a whole': yamlPods(
    `kind: List\nitems: []\n#${' '.repeat(9_000_000)}`,
  ),
  'invalid YAML': yamlPods('a: ['),
  'JSON and YAML for one list': { 'snapshot/pods.yaml': 'kind: List' },

  'a List of the wrong kind': pods({ kind: 'NodeList', items: [] }),
  'a List with an item of the wrong kind': pods(list('Node', [{ metadata: { name: 'a', uid: 'u' } }])),
  'one page of a list, with the number of the missing items': pods({
    ...list('Pod', []),
    metadata: { continue: 'token', remainingItemCount: 1 },
  }),
  'one page of a list': yamlPods('{kind: List, metadata: {continue: token}, items: []}'),
  'a pod without a UID': onePod({ name: 'a', namespace: 'web' }),
  'an invalid creation time': onePod({
    name: 'a',
    namespace: 'web',
    uid: 'u',
    creationTimestamp: 'yesterday',
  }),

  'a policy of another version': given({ ...policy('a', {}), apiVersion: 'gc.dustpan.dev/v2' }),
  'another kind than a policy': given({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } }),
  'an invalid policy that the cluster has not stored': {
    'snapshot/policies.json': list('GCPolicy', [policy('broken', { mode: 'Delete' })]),
  },

  'a record of a snapshot with a time that is none': {
    'snapshot/snapshot.json': { takenAt: 'yesterday' },
  },

  'a list of wanted images of another form': { 'snapshot/wantedimages.json': { images: [] } },

  'a node folder without a node': { 'snapshot/nodes/node-9/images.json': { images: [] } },
  'a size that is not a number': ofNode('images', { images: [{ id: 'a', size: '5Gi' }] }),
  'a container state that is a number': ofNode('containers', { containers: [{ id: 'a', state: 1 }] }),
  'a state file with an invalid time': ofNode('state', {
    version: 1,
    images: { a: { firstDetected: 'once' } },
  }),
  'a log with a relative path': ofNode('logs', [{ path: 'a.log', bytes: 1, mtime: '2026-01-15T12:00:00Z' }]),

  'statistics of a pod without a UID': statsOf({ podRef: {} }),
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

/** What the command writes to standard error about these files, with paths relative to the input. */
async function problemsWith(files: Files): Promise<string> {
  input.use(example);
  for (const [name, content] of Object.entries(files))
    if (content === undefined) input.drop(name);
    else input.write(name, content);
  const { code, stdout, stderr } = await dustpan(['plan', ...input.args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^(dustpan: [^\n]+\n)+$/);
  // What V8 says depends on its version.
  return stderr.replaceAll(input.path(''), '').replaceAll(/(is not JSON(, or is cut off)?): .*/g, '$1');
}

test('bad input is exit code 2, no output, and one line for each problem', async () => {
  const texts: string[] = [];
  for (const [name, files] of Object.entries(cases)) texts.push(`# ${name}\n\n${await problemsWith(files)}`);
  await expect(texts.join('\n')).toMatchFileSnapshot('./__snapshots__/bad-input.txt');
});
