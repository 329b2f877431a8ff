import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { built } from '../../built.ts';
import { examples } from '../plan/fixture.ts';

interface Run {
  /** Options of Node. */
  readonly flags?: readonly string[];
  readonly input?: string;
  readonly main?: string | undefined;
}

function dustpan(args: readonly string[], { flags = [], input = '', main = built.main }: Run = {}) {
  const options = { env: { PATH: process.env['PATH'] }, encoding: 'utf8', input } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, main, ...args], options);
  return { status, stdout, stderr };
}

/** A kubeconfig (JSON is YAML) of an unreachable server. */
const unreachable = {
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'c', cluster: { server: 'http://127.0.0.1:1' } }],
  users: [{ name: 'u', user: { token: 't' } }],
  contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
  'current-context': 'x',
};

describe('the built command', () => {
  test('a failure is exit code 1 and no stack', () => {
    const kubeconfig = join(dirname(built.main), 'kubeconfig');
    writeFileSync(kubeconfig, JSON.stringify(unreachable));
    const { status, stderr } = dustpan(['plan', '--kubeconfig', kubeconfig]);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^dustpan: [^\n]*127\.0\.0\.1:1[^\n]*\n$/);
  });

  test('reads policies from standard input', () => {
    const example = join(examples, 'image-disk-full');
    const args = [`--snapshot=${example}/snapshot`, '--now=2026-01-15T12:00:00Z'];
    const policy = readFileSync(`${example}/policy.json`, 'utf8');
    const piped = dustpan(['plan', ...args, '-f', '-'], { input: policy });
    expect(piped).toEqual(dustpan(['plan', ...args, `-f=${example}/policy.json`]));
    expect(piped).toMatchObject({ status: 0, stderr: '' });
    expect(dustpan(['plan', ...args, '-f-']).stderr).toBe('dustpan: standard input: is empty\n');
  });

  test('succeeds when the reader of its output exits early', () => {
    const command = `${process.execPath} ${built.main} controller --help`;
    const { status, stderr } = spawnSync('bash', ['-c', `set -o pipefail; (sleep 0.3; ${command}) | true`], {
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  test('the entry file has no library of the controller', () => {
    const entry = readFileSync(built.main, 'utf8');
    expect(readdirSync(dirname(built.main)).length).toBeGreaterThan(1);
    expect(entry).not.toMatch(/winston|prom-client|client-node/);
    expect(entry.length).toBeLessThan(60_000);
  });
});

/** Runs the built command in a Node that claims to be `version`. */
function onNode(version: string, main?: string) {
  const claim = `Object.defineProperty(process,'version',{value:'v${version}'});
    Object.defineProperty(process.versions,'node',{value:'${version}'})`;
  const preload = `data:text/javascript,${encodeURIComponent(claim)}`;
  return dustpan(['version'], { flags: ['--import', preload], main });
}

const tooOld = (version: string, remedy: string): object => ({
  status: 1,
  stdout: '',
  stderr: `dustpan: Node v${version} is too old: ${remedy} Node 24.5 or newer, or 22.21 or a later 22\n`,
});

test.each(['22.20.0', '23.11.1', '24.4.1'])(
  'Node %s: one line that names the version to install, and in a checkout the one that npm ci installed',
  (version) => {
    const installed = join(dirname(built.main), '../node_modules/.bin/node');
    expect(onNode(version)).toEqual(tooOld(version, `run ${installed}, which npm ci installed, or install`));
    const elsewhere = mkdtempSync(join(tmpdir(), 'dustpan-main-'));
    onTestFinished(() => rmSync(elsewhere, { recursive: true }));
    const main = join(elsewhere, 'main.mjs');
    copyFileSync(built.main, main);
    expect(onNode(version, main)).toEqual(tooOld(version, 'install'));
  },
);

test.each(['22.21.0', '24.5.0', '25.0.0'])('Node %s: runs', (version) => {
  expect(onNode(version)).toMatchObject({ status: 0, stderr: '' });
  expect(readFileSync('package.json', 'utf8')).toContain('"node": "^22.21 || >=24.5"');
});
