import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { dustpan, list, policy, Scene } from './plan.bed.ts';

let scene: Scene;

beforeEach(() => {
  scene = new Scene('image-disk-full');
});
afterEach(() => {
  scene.remove();
});

const node = 'snapshot/nodes/node-1';
const pod = (metadata: object, rest: object = {}): object => ({ metadata, ...rest });

const rows: readonly { name: string; change: (scene: Scene) => void; says: RegExp; policy?: string }[] = [
  {
    name: 'a policy file that is missing',
    change: (s) => {
      s.drop('policy.json');
    },
    says: /policy\.json: there is no such file$/,
  },
  {
    name: 'a snapshot that is missing',
    change: (s) => {
      s.drop('snapshot');
    },
    says: /snapshot: there is no such directory$/,
  },
  {
    name: 'a directory that is no snapshot',
    change: (s) => {
      s.drop('snapshot');
      s.write('snapshot/package.json', '{}');
    },
    says: /snapshot: is no snapshot: it has no pods\.json/,
  },
  {
    name: 'an empty file',
    change: (s) => {
      s.write('snapshot/pods.json', '');
    },
    says: /pods\.json: is empty$/,
  },
  {
    name: 'an empty policy',
    change: (s) => {
      s.write('policy.json', ' \n');
    },
    says: /policy\.json: is empty$/,
  },
  {
    name: 'a list that is cut off inside an item',
    change: (s) => {
      s.write('snapshot/pods.json', '{"kind":"List","items":[{"metadata":{"na');
    },
    says: /pods\.json: items\[0\]: is not JSON, or is cut off/,
  },
  {
    name: 'a list that is cut off between items',
    change: (s) => {
      s.write('snapshot/nodes.json', '{"kind":"List","items":[');
    },
    says: /nodes\.json: items\[0\]: is not JSON, or is cut off/,
  },
  {
    name: 'a list that is cut off after its items',
    change: (s) => {
      s.write('snapshot/nodes.json', '{"items":[],"kind":"Li');
    },
    says: /nodes\.json: is not JSON, or is cut off/,
  },
  {
    name: 'a file that is no JSON',
    change: (s) => {
      s.write('snapshot/pods.json', 'Error from server');
    },
    says: /pods\.json: is not JSON/,
  },
  {
    name: 'an item that is no JSON',
    change: (s) => {
      s.write('snapshot/pods.json', '{"kind":"List","items":[{"metadata":nil}]}');
    },
    says: /pods\.json: items\[0\]: is not JSON/,
  },
  {
    name: 'an item that is no JSON, far from the first',
    change: (s) => {
      const items = Array.from({ length: 900 }, (_, i) =>
        JSON.stringify(pod({ name: `p${i}`, namespace: 'web', uid: `u${i}` })),
      );
      s.write(
        'snapshot/pods.json',
        `{"kind":"List","items":[${items.with(870, '{"metadata":nil}').join()}]}`,
      );
    },
    says: /pods\.json: items\[870\]: is not JSON/,
  },
  {
    name: 'YAML that is too large to be read as a whole',
    change: (s) => {
      s.drop('snapshot/pods.json');
      s.write('snapshot/pods.yaml', `kind: List\nitems: []\n#${' '.repeat(9_000_000)}`);
    },
    says: /pods\.yaml: is YAML of more than 8 MiB, .* convert it to JSON/,
  },
  {
    name: 'YAML that is none',
    change: (s) => {
      s.drop('policy.json');
      s.write('policy.yaml', 'a: [');
    },
    policy: 'policy.yaml',
    says: /policy\.yaml: is not YAML/,
  },
  {
    name: 'a List of the wrong kind',
    change: (s) => {
      s.write('snapshot/pods.json', { kind: 'NodeList', items: [] });
    },
    says: /pods\.json: kind: must be List or PodList, is "NodeList"$/,
  },
  {
    name: 'a List with an item of the wrong kind',
    change: (s) => {
      s.write('snapshot/pods.json', list('Node', [pod({ name: 'a', uid: 'u' })]));
    },
    says: /pods\.json: items\[0\]\.kind: must be Pod, is "Node"$/,
  },
  {
    name: 'no list at all',
    change: (s) => {
      s.write('snapshot/pods.json', { kind: 'List' });
    },
    says: /pods\.json: items: must be a list, is absent$/,
  },
  {
    name: 'an item that is no object',
    change: (s) => {
      s.write('snapshot/pods.json', '{"kind":"List","items":[7]}');
    },
    says: /pods\.json: items\[0\]: must be an object, is 7$/,
  },
  {
    name: 'a pod without a UID',
    change: (s) => {
      s.write('snapshot/pods.json', list('Pod', [pod({ name: 'a', namespace: 'web' })]));
    },
    says: /pods\.json: items\[0\]\.metadata\.uid: must be a text, is absent$/,
  },
  {
    name: 'a phase that is no text',
    change: (s) => {
      const metadata = { name: 'a', namespace: 'web', uid: 'u' };
      s.write('snapshot/pods.json', list('Pod', [pod(metadata, { status: { phase: 7 } })]));
    },
    says: /pods\.json: items\[0\]\.status\.phase: must be a text, is 7$/,
  },
  {
    name: 'a creation time that is none',
    change: (s) => {
      const metadata = { name: 'a', namespace: 'web', uid: 'u', creationTimestamp: 'yesterday' };
      s.write('snapshot/pods.json', list('Pod', [pod(metadata)]));
    },
    says: /items\[0\]\.metadata\.creationTimestamp: must be an RFC 3339 time, is "yesterday"$/,
  },
  {
    name: 'a policy with an unknown field',
    change: (s) => {
      s.write('policy.json', policy('a', { pods: { terminated: { treshold: 1 } } }));
    },
    says: /policy\.json: spec\.pods\.terminated\.treshold: is not a known field, did you mean threshold\?$/,
  },
  {
    name: 'a policy with an unknown field beside its spec',
    change: (s) => {
      s.write('policy.json', { ...policy('a', {}), sepc: {} });
    },
    says: /policy\.json: sepc: is not a known field, did you mean spec\?$/,
  },
  {
    name: 'a policy with a wrong type',
    change: (s) => {
      s.write('policy.json', policy('a', { pods: { terminated: { threshold: 'many' } } }));
    },
    says: /policy\.json: spec\.pods\.terminated\.threshold: must be an integer, is "many"$/,
  },
  {
    name: 'a policy that breaks a rule across fields',
    change: (s) => {
      s.write('policy.json', policy('a', { nodes: { imageGC: { lowThresholdPercent: 90 } } }));
    },
    says: /policy\.json: spec\.nodes\.imageGC[^:]*: .*highThresholdPercent/,
  },
  {
    name: 'a policy of another version',
    change: (s) => {
      s.write('policy.json', { ...policy('a', {}), apiVersion: 'gc.dustpan.dev/v2' });
    },
    says: /policy\.json: apiVersion: must be gc\.dustpan\.dev\/v1alpha1, is "gc\.dustpan\.dev\/v2"$/,
  },
  {
    name: 'something else than a policy',
    change: (s) => {
      s.write('policy.json', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } });
    },
    says: /policy\.json: kind: must be GCPolicy, GCPolicyList or List, is "Pod"$/,
  },
  {
    name: 'a List of many other things than policies',
    change: (s) => {
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } };
      s.write('policy.json', { apiVersion: 'v1', kind: 'List', items: [pod, pod, pod] });
    },
    says: /policy\.json: items\[0\]\.kind: must be GCPolicy, is "Pod"$/,
  },
  {
    name: 'two policies of one name',
    change: (s) => {
      s.write('policy.json', { kind: 'List', items: [policy('a', {}), policy('a', {})] });
    },
    says: /policy\.json: items\[1\]\.metadata\.name: "a" is given twice/,
  },
  {
    name: 'a node folder without a node',
    change: (s) => {
      s.write('snapshot/nodes/node-9/images.json', { images: [] });
    },
    says: /snapshot\/nodes\/node-9: there is no node of this name/,
  },
  {
    name: 'images that are no list',
    change: (s) => {
      s.write(`${node}/images.json`, {});
    },
    says: /images\.json: images: must be a list, is absent$/,
  },
  {
    name: 'a size that is no number',
    change: (s) => {
      s.write(`${node}/images.json`, { images: [{ id: 'a', size: '5Gi' }] });
    },
    says: /images\.json: images\[0\]\.size: must be a whole number, is "5Gi"$/,
  },
  {
    name: 'a container state that is a number',
    change: (s) => {
      s.write(`${node}/containers.json`, { containers: [{ id: 'a', state: 1 }] });
    },
    says: /containers\.json: containers\[0\]\.state: must be a text, is 1$/,
  },
  {
    name: 'a sandbox without a state',
    change: (s) => {
      s.write(`${node}/sandboxes.json`, { items: [{ id: 'a' }] });
    },
    says: /sandboxes\.json: items\[0\]\.state: must be one of SANDBOX_READY, SANDBOX_NOTREADY, is absent$/,
  },
  {
    name: 'statistics that are cut off',
    change: (s) => {
      s.write(`${node}/stats.json`, '{"node":');
    },
    says: /stats\.json: is not JSON, or is cut off/,
  },
  {
    name: 'a state file that is no state',
    change: (s) => {
      s.write(`${node}/state.json`, { version: 1, images: { a: { firstDetected: 'once' } } });
    },
    says: /state\.json: images\[a\]\.firstDetected: must be an RFC 3339 time$/,
  },
  {
    name: 'a log with a relative path',
    change: (s) => {
      s.write(`${node}/logs.json`, [{ path: 'a.log', bytes: 1, mtime: '2026-01-15T12:00:00Z' }]);
    },
    says: /logs\.json: \[0\]\.path: must be an absolute path, is "a\.log"$/,
  },
  {
    name: 'JSON and YAML of one thing',
    change: (s) => {
      s.write('snapshot/pods.yaml', 'kind: List');
    },
    says: /pods\.yaml: pods\.json is there too/,
  },
];

describe('bad input is one line, exit code 2, and nothing on stdout', () => {
  test.each(rows)('$name', async ({ change, says, policy: file = 'policy.json' }) => {
    change(scene);
    const args = [`--policy=${scene.path(file)}`, `--snapshot=${scene.path('snapshot')}`];
    const { code, stdout, stderr } = await dustpan(['plan', ...args, '--now=2026-01-15T12:00:00Z']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^dustpan: [^\n]+\n$/);
    expect(stderr.trimEnd()).toMatch(says);
  });

  test.each([
    {
      args: ['--now=yesterday'],
      says: /--now <TIME>' argument 'yesterday' is invalid\. Use an RFC 3339 time/,
    },
    {
      args: ['--now=2026-02-30T00:00:00Z'],
      says: /--now <TIME>' argument '2026-02-30T00:00:00Z' is invalid\. Use an RFC 3339 time/,
    },
    {
      args: ['--now=2026-01-15'],
      says: /--now <TIME>' argument '2026-01-15' is invalid\. Use an RFC 3339 time/,
    },
    { args: ['-o', 'xml'], says: /'xml' is invalid\. Allowed choices are table, json, yaml\./ },
    { args: ['--cri-socket=/a', '--node-name=n'], says: /--cri-socket and --snapshot exclude each other/ },
    { args: ['extra'], says: /too many arguments/ },
  ])('$args', async ({ args, says }) => {
    const { code, stdout, stderr } = await dustpan(['plan', `--snapshot=${scene.path('snapshot')}`, ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^dustpan: [^\n]+\n$/);
    expect(stderr).toMatch(says);
  });
});
