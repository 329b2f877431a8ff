// @bed node imageFsMB=512
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCluster, type Cluster, type ClusterOptions } from '../servers/cluster.ts';
import { runCommand } from '../servers/command.ts';
import { crictl, runContainer, runSandbox } from './crictl.ts';
import { busyboxImage, image, images, tinyImages } from './image.ts';
import { traces } from './traces.ts';
import { repositoryRoot } from '../repository.ts';

const dir = mkdtempSync(join(tmpdir(), 'dustpan-node-test-'));
const busybox = join(dir, 'busybox.tar');

beforeAll(async () => {
  await image(busyboxImage, busybox);
});

interface Listed {
  readonly id: string;
  readonly repoTags: readonly string[];
  readonly size: string;
  readonly pinned: boolean;
}

async function listImages(cluster: Cluster): Promise<readonly Listed[]> {
  return (JSON.parse(await crictl(cluster, 'images', '-o', 'json')) as { images: Listed[] }).images;
}

async function containerStatus(cluster: Cluster, id: string): Promise<unknown> {
  return (JSON.parse(await crictl(cluster, 'inspect', id)) as { status: unknown }).status;
}

function usedBytes(): number {
  const { blocks, bfree, bsize } = statfsSync('/var/lib/containerd');
  return (blocks - bfree) * bsize;
}

describe('containerd alone', () => {
  const start = async (options: Partial<ClusterOptions> = {}): Promise<Cluster> => {
    return await startCluster({ parts: ['ctd'], images: [{ archive: busybox }], ...options });
  };

  test('lists imported images: references, size, pins', async () => {
    const big = { bytes: 20_000_000, kind: 'random' } as const;
    const zeros = { bytes: 20_000_000, kind: 'zeros' } as const;
    const archives = ['kept.tar', 'big.tar', 'zeros.tar'].map((name) => join(dir, name)) as [
      string,
      string,
      string,
    ];
    const kept = await image({ ...busyboxImage, ref: 'bed.test/kept:1' }, archives[0]);
    await image({ ref: 'bed.test/big:1', tags: ['bed.test/big:again'], fill: big }, archives[1]);
    await image({ ref: 'bed.test/zeros:1', fill: zeros }, archives[2]);
    await using cluster = await start({ images: [{ archive: archives[0], pinned: true }] });
    const before = usedBytes();
    for (const archive of archives.slice(1)) await cluster.importImage({ archive });

    const listed = await listImages(cluster);
    const sizes = new Map(listed.map(({ repoTags, size }) => [repoTags[0], Number(size)] as const));
    expect(listed.map(({ repoTags, pinned }) => ({ repoTags, pinned }))).toEqual(
      expect.arrayContaining([
        { repoTags: ['bed.test/pause:1'], pinned: true },
        { repoTags: ['bed.test/kept:1'], pinned: true },
        { repoTags: ['bed.test/big:1', 'bed.test/big:again'], pinned: false },
        { repoTags: ['bed.test/zeros:1'], pinned: false },
      ]),
    );
    expect(listed).toHaveLength(4);
    expect(listed.find(({ pinned, id }) => pinned && id === kept.id)).toBeDefined();
    expect(sizes.get('bed.test/big:1')).toBeGreaterThan(big.bytes);
    expect(sizes.get('bed.test/zeros:1')).toBeLessThan(big.bytes / 4);
    // Packed and unpacked for one, unpacked alone for the other.
    expect(usedBytes() - before).toBeGreaterThan(2 * big.bytes + zeros.bytes);
  });

  test('keeps its images on a file system of the requested size', () => {
    const { blocks, bsize } = statfsSync('/var/lib/containerd');
    expect(blocks * bsize).toBeGreaterThan(450e6);
    expect(blocks * bsize).toBeLessThan(513 * 1024 * 1024);
  });

  test('runs a container to its end, and keeps a running one when containerd is killed', async () => {
    await using cluster = await start();
    const sandbox = await runSandbox(cluster, { name: 'a' });
    const ending = { name: 'ending', image: busyboxImage.ref, command: ['sh', '-c', 'echo hello; exit 3'] };
    const ended = await runContainer(cluster, sandbox, ending);
    const running = await runContainer(cluster, sandbox, {
      ...ending,
      name: 'running',
      command: ['sleep', '3600'],
    });

    await expect
      .poll(() => containerStatus(cluster, ended))
      .toMatchObject({ state: 'CONTAINER_EXITED', exitCode: 3 });
    expect(await crictl(cluster, 'logs', ended)).toBe('hello');
    expect(readFileSync('/var/log/pods/default_a_uid-a/ending/0.log', 'utf8')).toMatch(/ stdout F hello\n$/);

    await cluster.kill('ctd');
    await cluster.start('ctd');
    expect(await containerStatus(cluster, running)).toMatchObject({ state: 'CONTAINER_RUNNING' });
  });

  test('hangs when paused, and resumes', async () => {
    await using cluster = await start({ ctd: { config: "[debug]\nlevel = 'debug'" } });
    expect(await cluster.logs('ctd', 1000)).toContain('level=debug');
    await cluster.kill('ctd', 'SIGSTOP');
    await expect(crictl(cluster, '--timeout', '1s', 'pods')).rejects.toThrow(/deadline/i);
    await cluster.kill('ctd', 'SIGCONT');
    expect(await crictl(cluster, 'pods', '--quiet')).toBe('');
  });

  test('imports 300 images from one archive', async () => {
    const archive = join(dir, 'tiny.tar');
    await images(tinyImages(300), archive);
    await using cluster = await start({ images: [{ archive }] });
    expect(new Set((await listImages(cluster)).map(({ id }) => id)).size).toBe(301);
  });

  test('refuses a second node', async () => {
    await using cluster = await start();
    expect(cluster.node.criSocket).toBe('unix:///run/containerd/containerd.sock');
    await expect(start()).rejects.toThrow('this jail has a node already');
  });
});

describe('a whole node', () => {
  let cluster: Cluster;
  const before = traces();

  beforeAll(async () => {
    const parts = ['etcd', 'api', 'kcm', 'sched', 'ctd', 'kubelet'] as const;
    const kubelet = { args: ['--maximum-dead-containers-per-container=7'] };
    cluster = await startCluster({ parts, kubelet, images: [{ archive: busybox }] });
  });

  afterAll(async () => {
    await cluster.stop();
  });

  const kubectl = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await cluster.run('kubectl', args);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return stdout;
  };
  const createPod = async (name: string, restart: string, script: string, ...more: string[]) => {
    const command = ['--command', '--', 'sh', '-c', script];
    await kubectl('run', name, `--image=${busyboxImage.ref}`, `--restart=${restart}`, ...more, ...command);
  };
  const field = (name: string, path: string) => async (): Promise<string> => {
    return await kubectl('get', 'pod', name, '-o', `jsonpath={.status.${path}}`);
  };
  const patience = { timeout: 90_000, interval: 200 };

  test('runs a pod to its end, and keeps its log', async () => {
    await createPod('ending', 'Never', 'echo done');
    await expect.poll(field('ending', 'phase'), patience).toBe('Succeeded');

    expect(await kubectl('logs', 'ending')).toBe('done\n');
    const [link] = readdirSync('/var/log/containers').filter((name) => name.startsWith('ending_default_'));
    expect(readFileSync(realpathSync(`/var/log/containers/${link ?? ''}`), 'utf8')).toMatch(
      / stdout F done\n$/,
    );
  });

  test.each([
    { profile: 'RuntimeDefault', refusal: 'operation not permitted' },
    { profile: 'Unconfined', refusal: 'invalid argument' },
  ])('confines a pod to the seccomp profile $profile', async ({ profile, refusal }) => {
    const name = profile.toLowerCase();
    const overrides = JSON.stringify({ spec: { securityContext: { seccompProfile: { type: profile } } } });
    await createPod(name, 'Never', 'unshare', `--overrides=${overrides}`);
    await expect.poll(field(name, 'phase'), patience).toBe('Failed');
    expect(await kubectl('logs', name)).toBe(`unshare: ${refusal}\n`);
  });

  test('works with helm', async () => {
    const { code, stdout, stderr } = await cluster.run('helm', ['list', '--all-namespaces', '--output=json']);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '[]\n', stderr: '' });
  });

  test('restarts a failing container, and keeps the dead one', async () => {
    await createPod('failing', 'Always', 'exit 1');
    await expect
      .poll(async () => Number(await field('failing', 'containerStatuses[0].restartCount')()), patience)
      .toBeGreaterThan(0);
    const dead = (): Promise<string> =>
      crictl(cluster, 'ps', '--all', '--quiet', '--state=exited', '--name=failing');
    await expect.poll(async () => (await dead()).split('\n').length, patience).toBeGreaterThan(1);
  });

  test('keeps a pod running while kubelet and containerd are killed and restarted', async () => {
    await createPod('running', 'Never', 'sleep 3600');
    await expect.poll(field('running', 'phase'), patience).toBe('Running');
    const started = await field('running', 'containerStatuses[0].state.running.startedAt')();
    const pid = cluster.pid('kubelet');

    await cluster.kill('kubelet');
    await cluster.kill('ctd');
    await cluster.start('ctd');
    await cluster.start('kubelet');

    expect(cluster.pid('kubelet')).not.toBe(pid);
    await createPod('later', 'Never', 'true');
    await expect.poll(field('later', 'phase'), patience).toBe('Succeeded');
    expect(await field('running', 'containerStatuses[0].state.running.startedAt')()).toBe(started);
    expect(await field('running', 'containerStatuses[0].restartCount')()).toBe('0');
  });

  test('leaves nothing behind when it is stopped', async () => {
    const running = traces();
    expect(running.links).toContain('cni0');
    expect(running.processes.some((line) => line.endsWith('containerd-shim-runc-v2'))).toBe(true);
    expect(running.mounts.length).toBeGreaterThan(before.mounts.length);
    expect(running.cgroups.length).toBeGreaterThan(before.cgroups.length);

    await cluster.stop();

    await expect.poll(traces).toEqual(before);
    const folders = [
      '/var/log',
      '/var/lib/kubelet',
      '/var/lib/containerd',
      '/var/lib/cni',
      '/run/containerd',
    ];
    expect(folders.flatMap((path) => readdirSync(path))).toEqual([]);
  });
});

describe('a jail that is a node', () => {
  const script = join(repositoryRoot(), 'test/cluster/jail/jail.sh');
  const config =
    "version = 3\n[plugins.'io.containerd.internal.v1.opt']\n  path = '/var/lib/containerd/opt'\n";

  /** Ends only when it is killed, or after its container has. */
  function containerdIn(jail: string, command: string): string {
    return [
      `printf %s "${config}" >${jail}/containerd.toml`,
      `containerd --config ${jail}/containerd.toml >${jail}/containerd.log 2>&1 &`,
      'until ctr version >/dev/null 2>&1; do sleep 0.05; done',
      `ctr images import --local ${busybox} >/dev/null`,
      `ctr run --detach --net-host ${busyboxImage.ref} marked sleep 86404 && touch ${jail}/up`,
      command,
    ].join('\n');
  }

  test.each([
    { name: 'its command has ended', signal: undefined },
    { name: 'its script was asked to end', signal: 'SIGTERM' as const },
    { name: 'its script was killed', signal: 'SIGKILL' as const },
  ])('leaves no container, mount or cgroup when $name', async ({ signal }) => {
    const before = traces();
    const jailDir = mkdtempSync(join(dir, 'jail-'));
    const env = { ...process.env, BED_IMAGEFS_MB: '64' };
    const command = containerdIn(jailDir, signal ? 'wait' : 'true');
    const jail = spawn('bash', [script, jailDir, 'bash', '-c', command], { stdio: 'ignore', env });
    const ended = once(jail, 'exit');
    await expect.poll(() => existsSync(join(jailDir, 'up')) || jail.exitCode !== null).toBe(true);
    if (signal) {
      expect(
        traces().cgroups.some((path) => path.includes('dustpan-jail-') && path.endsWith('/marked')),
      ).toBe(true);
      jail.kill(signal);
    }
    await ended;

    expect(existsSync(join(jailDir, 'up'))).toBe(true);
    // After a KILL it is the next jail that removes the cgroups.
    if (signal === 'SIGKILL')
      await runCommand(['bash', script, mkdtempSync(join(dir, 'next-')), 'true'], { env: process.env });
    await expect.poll(traces).toEqual(before);
  });
});
