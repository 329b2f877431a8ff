import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { built } from '../built.ts';

/** Runs the built command in a Node that claims to be `version`. */
function onNode(version: string) {
  const claim = `Object.defineProperty(process,'version',{value:'v${version}'});
    Object.defineProperty(process.versions,'node',{value:'${version}'})`;
  const preload = `data:text/javascript,${encodeURIComponent(claim)}`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', preload, built.main, 'version'],
    {
      encoding: 'utf8',
    },
  );
  return { status, stdout, stderr };
}

test.each(['20.20.2', '22.20.0', '23.11.1', '24.4.1'])(
  'Node %s: one line that names the version to install',
  (version) => {
    expect(onNode(version)).toEqual({
      status: 1,
      stdout: '',
      stderr: `dustpan: Node v${version} is too old: install Node 24.5 or newer, or 22.21 or a later 22\n`,
    });
  },
);

test.each(['22.21.0', '24.5.0', '25.0.0'])('Node %s: runs', (version) => {
  expect(onNode(version)).toMatchObject({ status: 0, stderr: '' });
});

test('the oldest Nodes are those that package.json promises', () => {
  expect(JSON.parse(readFileSync('package.json', 'utf8'))).toMatchObject({
    engines: { node: '^22.21 || >=24.5' },
  });
});
