import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { build } from './build.ts';
import { cacheFolder, findProgram } from './find.ts';
import { programsOf, type Program } from './parts.ts';
import { cannotRun } from './requirements.ts';

function newDir(): string {
  return mkdtempSync(join(tmpdir(), 'dustpan-binaries-test-'));
}

/** A program that says and does only this. */
function script(file: string, commands: string): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${commands}\n`);
  chmodSync(file, 0o755);
  return file;
}

function named(name: string): Program {
  const program = programsOf(['etcd', 'api', 'kcm', 'ctd']).find((one) => one.name === name);
  if (!program) throw new Error(`no program ${name}`);
  return program;
}

interface Places {
  readonly assets?: string;
  readonly path?: string;
  readonly cached?: boolean;
}

/** A machine where these versions of kubectl lie in these places. */
function machine({ assets, path, cached }: Places): NodeJS.ProcessEnv {
  const dir = newDir();
  const env = {
    KUBEBUILDER_ASSETS: join(dir, 'assets'),
    PATH: join(dir, 'path'),
    DUSTPAN_TESTBED_CACHE: join(dir, 'cache'),
  };
  if (assets) script(join(dir, 'assets/kubectl'), `echo "Client Version: ${assets}"`);
  if (path) script(join(dir, 'path/kubectl'), `echo "Client Version: ${path}"`);
  if (cached) script(join(cacheFolder('kubernetes', env), 'bin/kubectl'), '');
  return env;
}

describe('finding a program', () => {
  test.each([
    {
      name: 'the assets come first',
      places: { assets: 'v1.36.0', path: 'v1.36.3', cached: true },
      from: 'assets',
    },
    { name: 'then the PATH', places: { path: 'v1.36.9', cached: true }, from: 'path' },
    { name: 'then the cache', places: { cached: true }, from: 'cache' },
    { name: 'an older minor is passed over', places: { assets: 'v1.35.3', cached: true }, from: 'cache' },
    { name: 'a newer minor is passed over', places: { path: 'v1.37.0', cached: true }, from: 'cache' },
    {
      name: 'the old way to say the version is understood',
      places: { path: 'version.Info{GitVersion:"v1.20.2"}' },
      from: undefined,
    },
    {
      name: 'one that does not say its version is passed over',
      places: { path: 'unknown' },
      from: undefined,
    },
    { name: 'nothing anywhere', places: {}, from: undefined },
  ])('$name', ({ places, from }) => {
    expect(findProgram(named('kubectl'), machine(places))?.from).toBe(from);
  });

  test('says what it passes over, and why', () => {
    const lines: string[] = [];
    findProgram(named('kubectl'), machine({ path: 'v1.32.4' }), (line) => lines.push(line));
    expect(lines).toEqual([expect.stringMatching(/^passed over .*\/path\/kubectl: 1\.32\.4 is not 1\.36$/)]);
  });

  test('never takes the bridge that Linux distributions have', () => {
    const dir = newDir();
    script(join(dir, 'bridge'), 'echo bridge utility, 1.9.1');
    expect(findProgram(named('bridge'), { PATH: dir, DUSTPAN_TESTBED_CACHE: dir })).toBeUndefined();
  });
});

describe('building', () => {
  const path = process.env['PATH'] ?? '';

  test('two runs at once build once, and the cache has the program under its own name', async () => {
    const dir = newDir();
    script(join(dir, 'go'), `echo built >>${dir}/count; sleep 0.2; mkdir -p "$GOBIN"; echo >"$GOBIN/server"`);
    const env = { PATH: `${dir}:${path}`, DUSTPAN_TESTBED_CACHE: dir };
    const options = { env, progress: () => undefined };

    await Promise.all([build('etcd', [named('etcd')], options), build('etcd', [named('etcd')], options)]);

    expect(readFileSync(join(dir, 'count'), 'utf8')).toBe('built\n');
    expect(existsSync(join(cacheFolder('etcd', env), 'bin/etcd'))).toBe(true);
  });

  test('a failed build says what Go said, and leaves nothing that looks built', async () => {
    const dir = newDir();
    script(
      join(dir, 'go'),
      'mkdir -p "$GOBIN"; echo >"$GOBIN/server"; echo "server.go:1: no such thing" >&2; exit 1',
    );
    const env = { PATH: `${dir}:${path}`, DUSTPAN_TESTBED_CACHE: dir };

    const building = build('etcd', [named('etcd')], { env, progress: () => undefined });
    await expect(building).rejects.toThrow('building etcd by Go failed:\nserver.go:1: no such thing');
    expect(existsSync(join(cacheFolder('etcd', env), 'bin/etcd'))).toBe(false);
  });
});

describe('what a machine lacks', () => {
  const commands = ['ip', 'openssl', 'unshare', 'setpriv', 'flock', 'true'];

  /** A machine with these commands alone, and Go of a version. */
  function bareMachine({ lacking, go }: { lacking?: string; go?: string }): NodeJS.ProcessEnv {
    const dir = newDir();
    for (const command of commands.filter((one) => one !== lacking)) {
      const found = spawnSync('which', [command], { encoding: 'utf8' }).stdout.trim();
      symlinkSync(found, join(dir, command));
    }
    if (go) script(join(dir, 'go'), `echo go version ${go} linux/amd64`);
    return { PATH: dir, DUSTPAN_TESTBED_CACHE: dir };
  }

  test.each([
    {
      name: 'a Debian package',
      given: { lacking: 'openssl' },
      reason: 'openssl missing: apt-get install openssl',
    },
    { name: 'Go', given: {}, reason: 'no go and no kube-apiserver' },
    {
      name: 'a Go that is new enough',
      given: { go: 'go1.23.4' },
      reason: 'go1.23 is older than go1.24 and no kube-apiserver',
    },
    { name: 'nothing', given: { go: 'go1.24.0' }, reason: undefined },
  ])('$name', ({ given, reason }) => {
    expect(cannotRun(['api'], bareMachine(given))).toBe(reason);
  });
});
