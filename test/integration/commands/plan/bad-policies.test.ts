import { expect, test } from 'vitest';
import { dustpan, policy, inputOfEachTest } from './fixture.ts';

const input = inputOfEachTest('image-disk-full');

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
    'items[3].kind: must be GCPolicy, is "Pod"',
    'items[4].sepc: is not a known field, did you mean spec?',
  ]);
});

test('reports the problems of all files', async () => {
  input.write('policy.json', policy('a', { mode: 'Off' }));
  input.write('second.json', policy('b', { priority: 'high' }));
  const { stdout, stderr } = await dustpan(['plan', ...input.args, `--policy=${input.path('second.json')}`]);
  expect(stdout).toBe('');
  expect(stderr.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/policy\.json: spec\.mode: must be one of /),
    expect.stringMatching(/second\.json: spec\.priority: must be an integer/),
  ]);
});
