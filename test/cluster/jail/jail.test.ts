import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { runCommand, type CommandResult } from '../servers/command.ts';
import { repositoryRoot } from '../repository.ts';
import { noLoopDevices } from './requirements.ts';

const script = join(repositoryRoot(), 'test/cluster/jail/jail.sh');

function newDir(): string {
  return mkdtempSync(join(tmpdir(), 'dustpan-jail-test-'));
}

/** A jail within the jail: the inner one looks like a jail on the host. */
async function inJail(command: string, env: NodeJS.ProcessEnv = {}): Promise<CommandResult> {
  return await runCommand(['bash', script, newDir(), 'bash', '-c', command], {
    env: { ...process.env, ...env },
  });
}

async function until(isTrue: () => boolean): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!isTrue()) {
    if (Date.now() > deadline) throw new Error('waited 60 s in vain');
    await sleep(20);
  }
}

function processesWith(argument: string): readonly string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => commandLine(pid).includes(argument));
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // the process has ended
  }
}

function mounts(): string {
  return readFileSync('/proc/self/mountinfo', 'utf8');
}

/** cgroup folders of ended jails. */
function cgroupFolders(): readonly string[] {
  const top = '/sys/fs/cgroup';
  const folders = [top, ...readdirSync(top).map((name) => join(top, name))];
  const entries = folders
    .filter((dir) => existsSync(join(dir, 'cgroup.procs')))
    .map((dir) => readdirSync(dir));
  const ours = [...new Set(entries.flat())].filter((name) => name.startsWith('dustpan-jail-'));
  return ours.filter(
    (name) => !isLocked(folders.map((dir) => join(dir, name)).filter((dir) => existsSync(dir))),
  );
}

/** Another jail is alive and ends by itself. */
function isLocked(dirs: readonly string[]): boolean {
  return dirs.some((dir) => spawnSync('flock', ['--nonblock', dir, 'true']).status === 1);
}

describe('a jail', () => {
  test('has the service address and the node address, and no other network', async () => {
    const { stdout } = await inJail('ip --brief address; ip route');
    expect(stdout.trim().split('\n')).toHaveLength(1);
    expect(stdout).toContain('127.0.0.1/8 10.96.0.1/32 10.97.0.1/32');
  });

  test.each([
    { name: 'success', command: 'true', code: 0 },
    { name: 'a failure', command: 'exit 7', code: 7 },
    { name: 'a signal', command: 'kill -TERM $$', code: 143 },
  ])('returns the exit code of its command: $name', async ({ command, code }) => {
    expect(await inJail(command)).toMatchObject({ code });
  });

  test('can be a node, with its own name and paths', async () => {
    const before = mounts();
    const look =
      'cat /proc/sys/kernel/hostname; mountpoint -q /var/lib/containerd && ls /var/log; cat /proc/sys/kernel/panic';
    expect(await inJail(look, { BED_IMAGEFS_MB: '0' })).toMatchObject({ code: 0, stdout: 'node-a\n10\n' });
    expect(mounts()).toBe(before);
  });

  test.each([
    { name: 'that the images share', images: '0', imagesMB: 64 },
    { name: 'beside that of the images', images: '32', imagesMB: 32 },
  ])('can have a small disk $name', async ({ images, imagesMB }) => {
    const before = mounts();
    const paths = '/var/log /var/lib/kubelet /var/lib/dustpan /var/lib/containerd';
    const command = `mkdir /var/lib/dustpan; stat --file-system --format='%n %b %S %c' ${paths}`;
    const { stdout } = await inJail(command, { BED_IMAGEFS_MB: images, BED_DISK_MB: '64' });
    const found = stdout.trim().split('\n');
    const sizes = found.map((line) => line.split(' ').slice(1, 3).map(Number));
    expect(sizes.map(([blocks = 0, bytes = 0]) => (blocks * bytes) / 1024 ** 2)).toEqual([
      64,
      64,
      64,
      imagesMB,
    ]);
    expect(found[0]).toMatch(/ 4096$/);
    expect(mounts()).toBe(before);
  });

  test.skipIf(noLoopDevices('ext4') !== undefined).each([
    { name: 'its command has ended', signal: undefined, command: 'true' },
    { name: 'its script was killed', signal: 'SIGKILL' as const, command: 'sleep 86404' },
  ])('can have disks that are loop devices with ext4, free when $name', async ({ signal, command }) => {
    const columns = ['--list', '--noheadings', '--output', 'BACK-INO,BACK-MAJ:MIN,NAME'];
    const devices = () => spawnSync('losetup', columns, { encoding: 'utf8' }).stdout.split('\n');
    const dir = newDir();
    const found = join(dir, 'found');
    const look = `stat --file-system --format=%T /var/log /var/lib/containerd; for name in disk imagefs; do losetup ${columns.join(' ')} --associated /run/bed/$name.img; done`;
    const jail = spawn(
      'bash',
      [script, dir, 'bash', '-c', `(${look}) >${found}.new; mv ${found}.new ${found}; ${command}`],
      {
        stdio: 'ignore',
        env: { ...process.env, BED_IMAGEFS_MB: '32', BED_DISK_MB: '64', BED_LOOP_DEVICES: 'ext4' },
      },
    );
    const ended = once(jail, 'exit');
    await until(() => existsSync(found) || jail.exitCode !== null);
    if (signal) jail.kill(signal);
    await ended;
    const [log, images, ...ours] = readFileSync(found, 'utf8').trim().split('\n');
    expect([log, images]).toEqual(['ext2/ext3', 'ext2/ext3']);
    expect(ours).toEqual([expect.stringContaining('/dev/loop'), expect.stringContaining('/dev/loop')]);
    await until(() => !devices().some((line) => ours.includes(line)));
  });

  test.each([
    {
      name: 'its command has ended',
      marker: '86401',
      signal: undefined,
      command: 'sleep 86401 & disown; true',
    },
    {
      name: 'its script got TERM after TERM',
      marker: '86402',
      signal: 'SIGTERM' as const,
      command: 'sleep 86402',
    },
    { name: 'its script was killed', marker: '86403', signal: 'SIGKILL' as const, command: 'sleep 86403' },
  ])('leaves no process, mount or cgroup folder when $name', async ({ marker, signal, command }) => {
    const [mountsBefore, cgroupsBefore] = [mounts(), cgroupFolders()];
    const dir = newDir();
    const jail = spawn('bash', [script, dir, 'setsid', 'bash', '-c', `touch ${dir}/up; ${command}`], {
      stdio: 'ignore',
    });
    const ended = once(jail, 'exit');
    if (signal) {
      await until(() => existsSync(join(dir, 'up')) && processesWith(marker).length > 0);
      // More than once, as a parent that dies thread by thread does.
      while (jail.exitCode === null && jail.signalCode === null) {
        jail.kill(signal);
        await sleep(2);
      }
    }
    await ended;

    await until(() => processesWith(marker).length === 0);
    expect(mounts()).toBe(mountsBefore);
    // After a KILL it is the next jail that sweeps.
    if (signal === 'SIGKILL') await inJail('true');
    // Other jails start and end, and have no lock for a moment.
    await until(() => cgroupFolders().every((name) => cgroupsBefore.includes(name)));
  });
});
