import { describe, expect, test } from 'vitest';
import { dustpan, inputOfEachTest, list, policy } from './fixture.ts';

const input = inputOfEachTest('image-disk-full');

/** What a row writes, by path; undefined = the file or directory is removed. */
type Files = Readonly<Record<string, unknown>>;
type Row = readonly [name: string, Files, problem: RegExp];

const pods = (content: unknown): Files => ({ 'snapshot/pods.json': content });
const yamlPods = (text: string): Files => ({ 'snapshot/pods.json': undefined, 'snapshot/pods.yaml': text });
const onePod = (metadata: object, rest: object = {}): Files => pods(list('Pod', [{ metadata, ...rest }]));
const known = { name: 'a', namespace: 'web', uid: 'u' };
const ofNode = (name: string, content: unknown): Files => ({
  [`snapshot/nodes/node-1/${name}.json`]: content,
});

const wholeFiles: readonly Row[] = [
  ['a missing policy file', { 'policy.json': undefined }, /policy\.json: does not exist$/],
  ['a missing snapshot', { snapshot: undefined }, /snapshot: there is no such directory$/],
  [
    'a directory that is not a snapshot',
    { snapshot: undefined, 'snapshot/package.json': '{}' },
    /snapshot: is not a snapshot: it has no pods\.json/,
  ],
  ['an empty file', pods(''), /pods\.json: is empty$/],
  ['an empty policy', { 'policy.json': ' \n' }, /policy\.json: is empty$/],
  [
    'a list that is cut off inside an item',
    pods('{"kind":"List","items":[{"metadata":{"na'),
    /pods\.json: items\[0\]: is not JSON, or is cut off/,
  ],
  [
    'an item that is not JSON',
    pods('{"kind":"List","items":[{"metadata":nil}]}'),
    /pods\.json: items\[0\]: is not JSON/,
  ],
  [
    'YAML that is too large to be read as a whole',
    yamlPods(`kind: List\nitems: []\n#${' '.repeat(9_000_000)}`),
    /pods\.yaml: is YAML larger than 8 MiB: convert it to JSON/,
  ],
  ['invalid YAML', yamlPods('a: ['), /pods\.yaml: is not YAML/],
  ['JSON and YAML for one list', { 'snapshot/pods.yaml': 'kind: List' }, /pods\.yaml: pods\.json exists too/],
];

const lists: readonly Row[] = [
  [
    'a List of the wrong kind',
    pods({ kind: 'NodeList', items: [] }),
    /pods\.json: kind: must be List or PodList, is "NodeList"$/,
  ],
  [
    'a List with an item of the wrong kind',
    pods(list('Node', [{ metadata: { name: 'a', uid: 'u' } }])),
    /pods\.json: items\[0\]\.kind: must be Pod, is "Node"$/,
  ],
  ['a List without items', pods({ kind: 'List' }), /pods\.json: items: must be a list, is absent$/],
  [
    'an item that is not an object',
    pods('{"kind":"List","items":[7]}'),
    /pods\.json: items\[0\]: must be an object, is 7$/,
  ],
  [
    'a pod without a UID',
    onePod({ name: 'a', namespace: 'web' }),
    /pods\.json: items\[0\]\.metadata\.uid: must be a text, is absent$/,
  ],
  [
    'a phase that is not a text',
    onePod(known, { status: { phase: 7 } }),
    /pods\.json: items\[0\]\.status\.phase: must be a text, is 7$/,
  ],
  [
    'an invalid creation time',
    onePod({ ...known, creationTimestamp: 'yesterday' }),
    /items\[0\]\.metadata\.creationTimestamp: must be an RFC 3339 time, is "yesterday"$/,
  ],
];

const policies: readonly Row[] = [
  [
    'a policy of another version',
    { 'policy.json': { ...policy('a', {}), apiVersion: 'gc.dustpan.dev/v2' } },
    /policy\.json: apiVersion: must be gc\.dustpan\.dev\/v1alpha1, is "gc\.dustpan\.dev\/v2"$/,
  ],
  [
    'another kind than a policy',
    { 'policy.json': { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } } },
    /policy\.json: has no GCPolicy$/,
  ],
  [
    'the kind in the wrong case',
    { 'policy.json': { ...policy('a', {}), kind: 'GcPolicy' } },
    /policy\.json: kind: must be GCPolicy, is "GcPolicy"$/,
  ],
  [
    'another kind among the policies of a snapshot',
    { 'snapshot/policies.json': { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } } },
    /policies\.json: kind: must be GCPolicy, GCPolicyList or List, is "Pod"$/,
  ],
];

const nodeFiles: readonly Row[] = [
  [
    'a node folder without a node',
    { 'snapshot/nodes/node-9/images.json': { images: [] } },
    /snapshot\/nodes\/node-9: there is no node of this name/,
  ],
  [
    'a size that is not a number',
    ofNode('images', { images: [{ id: 'a', size: '5Gi' }] }),
    /images\.json: images\[0\]\.size: must be a whole number, is "5Gi"$/,
  ],
  [
    'a container state that is a number',
    ofNode('containers', { containers: [{ id: 'a', state: 1 }] }),
    /containers\.json: containers\[0\]\.state: must be a text, is 1$/,
  ],
  [
    'a sandbox without a state',
    ofNode('sandboxes', { items: [{ id: 'a' }] }),
    /sandboxes\.json: items\[0\]\.state: must be one of SANDBOX_READY, SANDBOX_NOTREADY, is absent$/,
  ],
  ['statistics that are cut off', ofNode('stats', '{"node":'), /stats\.json: is not JSON, or is cut off/],
  [
    'a state file with an invalid time',
    ofNode('state', { version: 1, images: { a: { firstDetected: 'once' } } }),
    /state\.json: images\[a\]\.firstDetected: must be an RFC 3339 time$/,
  ],
  [
    'a log with a relative path',
    ofNode('logs', [{ path: 'a.log', bytes: 1, mtime: '2026-01-15T12:00:00Z' }]),
    /logs\.json: \[0\]\.path: must be an absolute path, is "a\.log"$/,
  ],
  [
    'a log directory with a relative path',
    { ...ofNode('logs', []), ...ofNode('loglisting', { complete: true, directories: ['a'] }) },
    /loglisting\.json: directories\[0\]: must be an absolute path, is "a"$/,
  ],
];

const badStatistics: readonly (readonly [string, object, RegExp])[] = [
  ['pods as an object', { node: {}, pods: {} }, /stats\.json: pods: must be a list, is an object$/],
  [
    'a pod without a UID',
    { node: {}, pods: [{ podRef: {} }] },
    /stats\.json: pods\[0\]\.podRef\.uid: must be a text, is absent$/,
  ],
  [
    'bytes as a text',
    { node: {}, pods: [{ podRef: { uid: 'a' }, volume: [{ name: 'tmp', usedBytes: '5Gi' }] }] },
    /stats\.json: pods\[0\]\.volume\[0\]\.usedBytes: must be a number, is "5Gi"$/,
  ],
  [
    'a file system as a list',
    { node: { runtime: { containerFs: [] } } },
    /stats\.json: node\.runtime\.containerFs: must be an object, is a list$/,
  ],
  [
    'a time that is none',
    { node: { fs: { time: 'now' } } },
    /stats\.json: node\.fs\.time: must be an RFC 3339 time, is "now"$/,
  ],
];
const statistics = badStatistics.map(([name, stats, problem]): Row => [
  `statistics with ${name}`,
  ofNode('stats', stats),
  problem,
]);

describe('bad input is one line, exit code 2, and no output', () => {
  test.each([...wholeFiles, ...lists, ...policies, ...nodeFiles, ...statistics])(
    '%s',
    async (_, files, problem) => {
      for (const [name, content] of Object.entries(files))
        if (content === undefined) input.drop(name);
        else input.write(name, content);
      const { code, stdout, stderr } = await dustpan(['plan', ...input.args]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(/^dustpan: [^\n]+\n$/);
      expect(stderr.trimEnd()).toMatch(problem);
    },
  );
});

test('reports all problems of policies at once, each in one line', async () => {
  const items = [
    policy('a', { mode: 'Off', pods: { terminated: { treshold: 1 }, outOfSerivce: {} } }),
    policy('b', { nodes: { imageGC: { lowThresholdPercent: 90, bogus: 1 } } }),
    policy('a', {}),
    { ...policy('c', {}), kind: 'Pod', status: {} },
    { ...policy('d', {}), sepc: {} },
  ];
  input.write('policy.json', { kind: 'List', items });
  const { code, stdout, stderr } = await dustpan(['plan', ...input.args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  const file = `dustpan: ${input.path('policy.json')}: `;
  const lines = stderr.trimEnd().split('\n');
  expect(lines.every((line) => line.startsWith(file))).toBe(true);
  expect(lines.map((line) => line.slice(file.length))).toEqual([
    expect.stringMatching(/^items\[0\]\.spec\.mode: must be one of DryRun, Enforce/),
    'items[0].spec.pods.outOfSerivce: is not a known field, did you mean outOfService?',
    'items[0].spec.pods.terminated.treshold: is not a known field, did you mean threshold?',
    'items[1].spec.nodes.imageGC.bogus: is not a known field',
    'items[1].spec.nodes.imageGC.lowThresholdPercent: must be lower than highThresholdPercent',
    expect.stringMatching(/^items\[2\]\.metadata\.name: "a" is given twice, see /),
    'items[4].sepc: is not a known field, did you mean spec?',
  ]);
});

test('reports the problems of all files', async () => {
  input.write('policy.json', policy('a', { mode: 'Off' }));
  input.write('second.json', policy('b', { priority: 'high' }));
  const { stderr } = await dustpan(['plan', ...input.args, `--policy=${input.path('second.json')}`]);
  expect(stderr).toMatch(
    /policy\.json: spec\.mode: must be .*\n.*second\.json: spec\.priority: must be .*\n$/,
  );
});
