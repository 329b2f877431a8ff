import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { built } from '../../built.ts';

function dustpan(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [built.main, ...args], {
    env: { PATH: process.env['PATH'], ...env },
    encoding: 'utf8',
  });
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
  test('prints its help', () => {
    const { status, stdout, stderr } = dustpan(['--help']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('controller');
    expect(dustpan(['controller', '--help']).stdout).toContain('--leader-elect-renew-deadline=DURATION');
  });

  test('a failure is exit code 1 and no stack', () => {
    const kubeconfig = join(dirname(built.main), 'kubeconfig');
    writeFileSync(kubeconfig, JSON.stringify(unreachable));
    const off = ['--health-probe-bind-address=0', '--metrics-bind-address=0'];
    const { status, stderr } = dustpan(['controller', '--kubeconfig', kubeconfig, ...off]);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^dustpan: [^\n]*127\.0\.0\.1:1[^\n]*\n$/);
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
