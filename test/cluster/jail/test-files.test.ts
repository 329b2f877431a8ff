import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { testFiles, sortFiles } from './test-files.ts';
import { cannotRun } from './requirements.ts';

const imports = "import { test } from 'vitest';\n";

describe('the jail that a test file requests', () => {
  const node = { file: 'a', imageFsMB: 4096, loopDevices: false, prometheus: false };

  test.each([
    { name: 'one line makes a node', head: '// @bed node\n', nodes: [node] },
    { name: 'of a size', head: '// @bed node imageFsMB=256\n', nodes: [{ ...node, imageFsMB: 256 }] },
    {
      name: 'with a disk',
      head: '// @bed node diskMB=512\n',
      nodes: [{ ...node, imageFsMB: 0, diskMB: 512 }],
    },
    {
      name: 'with two disks',
      head: '// @bed node imageFsMB=256 diskMB=512\n',
      nodes: [{ ...node, imageFsMB: 256, diskMB: 512 }],
    },
    {
      name: 'with two loop devices',
      head: '// @bed node imageFsMB=256 diskMB=512 loop\n',
      nodes: [{ ...node, imageFsMB: 256, diskMB: 512, loopDevices: true }],
    },
    { name: 'with Prometheus', head: '// @bed node prometheus\n', nodes: [{ ...node, prometheus: true }] },
    { name: 'after other comments', head: '// a test\n// @bed node\n', nodes: [node] },
    { name: 'no line, no node', head: '', nodes: [] },
    { name: 'further down it is only text', head: '//\n'.repeat(10) + '// @bed node\n', nodes: [] },
  ])('$name', ({ head, nodes }) => {
    const sorted = sortFiles(['a'], () => head + imports);
    expect(sorted).toEqual({ plain: nodes.length === 0 ? ['a'] : [], prometheus: [], nodes });
  });

  test('Prometheus does not require a node', () => {
    const sorted = sortFiles(['a'], () => '// @bed prometheus\n' + imports);
    expect(sorted).toEqual({ plain: [], prometheus: ['a'], nodes: [] });
  });

  test.each(['// @bed nodes', '// @bed', '// @bed prometheus node', '// @bed loop'])(
    'an unknown directive is an error, not a plain jail: %s',
    (line) => {
      expect(() => sortFiles(['a'], () => `${line}\n`)).toThrow('a has an unknown jail directive');
    },
  );

  test('the files are those that vitest selects', () => {
    const args = ['--project', 'cluster'];
    expect(testFiles([...args, 'test/cluster/node/node.test.ts']).nodes.map(({ file }) => file)).toEqual([
      'test/cluster/node/node.test.ts',
    ]);
    expect(testFiles([...args, 'test/cluster/jail/jail'])).toEqual({
      plain: ['test/cluster/jail/jail.test.ts'],
      prometheus: [],
      nodes: [],
    });
  });
});

describe('missing requirements of a node', () => {
  /** Has nothing but Go, a C compiler and util-linux, and of these all but one. */
  function machineLacking(command: string): NodeJS.ProcessEnv {
    const dir = mkdtempSync(join(tmpdir(), 'dustpan-bed-files-test-'));
    const commands = ['unshare', 'setpriv', 'flock', 'go', 'gcc'];
    for (const one of commands.filter((other) => other !== command))
      writeFileSync(join(dir, one), '#!/bin/sh\necho go version go1.26.0\n', { mode: 0o755 });
    return { PATH: dir, DUSTPAN_TESTBED_CACHE: dir };
  }

  test.each([
    { command: 'flock', node: 'flock missing: apt-get install util-linux', etcd: 'the same' },
    { command: 'go', node: 'no go and no ip', etcd: 'the same' },
    { command: 'gcc', node: 'no C compiler: apt-get install gcc libc6-dev', etcd: 'the same' },
    { command: 'nothing', node: undefined, etcd: undefined },
  ])('$command', ({ command, node, etcd }) => {
    const machine = machineLacking(command);
    expect(cannotRun(['ctd'], machine)).toBe(node);
    expect(cannotRun(['etcd'], machine)).toBe(etcd && node);
  });
});
