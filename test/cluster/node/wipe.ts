import { existsSync, readFileSync, readlinkSync, readdirSync, rmdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from '../servers/command.ts';

const patienceMs = 60_000;

/** Ends every container of the jail's node, whose containerd and kubelet have ended, and empties the node's paths for the next. */
export async function wipeNode(): Promise<void> {
  await endContainers();
  await unmountAll();
  await runCommand(['ip', 'link', 'delete', 'cni0']); // there only if a pod had a network of its own
  await Promise.all(contents(nodeFolders).map((path) => rm(path, { recursive: true, force: true })));
  await removeCgroups();
}

const nodeFolders = [
  '/run/containerd',
  '/run/netns',
  '/var/lib/cni',
  '/var/lib/containerd',
  '/var/lib/kubelet',
  '/var/log',
];

function contents(folders: readonly string[]): readonly string[] {
  return folders.filter(existsSync).flatMap((dir) => readdirSync(dir).map((name) => join(dir, name)));
}

/** The containers' processes by pid: the descendants of containerd's shims in this jail. */
async function endContainers(): Promise<void> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const processes = processesOfJail();
    const shims = processes.filter(({ program }) => program.startsWith('containerd-shim-'));
    const doomed = below(shims, processes);
    if (doomed.length === 0) return;
    if (Date.now() > deadline) throw new Error(`containers do not end: ${JSON.stringify(doomed)}`);
    // A shim adopts its containers' orphans and ends after them.
    for (const { pid } of doomed.length > shims.length ? without(shims, doomed) : shims) kill(pid);
    await sleep(20);
  }
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly program: string;
}

function processesOfJail(): readonly Process[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (state === 'Z') return []; // a zombie
      const program = basename(readlinkSync(`/proc/${pid}/exe`));
      return [{ pid: Number(pid), parent: Number(parent), program }];
    } catch {
      return []; // ended, or a kernel thread
    }
  });
}

function below(roots: readonly Process[], all: readonly Process[]): readonly Process[] {
  const children = all.filter(({ parent }) => roots.some(({ pid }) => pid === parent));
  const rest = without(roots, children);
  return rest.length === 0 ? roots : [...roots, ...below(rest, without(roots, all))];
}

function without(some: readonly Process[], all: readonly Process[]): readonly Process[] {
  return all.filter(({ pid }) => !some.some((one) => one.pid === pid));
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // ended by itself
  }
}

async function unmountAll(): Promise<void> {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\n');
  const points = lines.map((line) => line.split(' ')[4] ?? '');
  const inside = points.filter((point) => nodeFolders.some((dir) => point.startsWith(`${dir}/`)));
  if (inside.length === 0) return;
  const { code, stderr } = await runCommand(['umount', '--lazy', ...inside.reverse()]);
  if (code !== 0) throw new Error(`unmounting what the node has left: ${stderr}`);
}

/** The node's own root of each hierarchy has its pods, and perhaps jails of tests and (cgroup v2) the jail's processes. */
async function removeCgroups(): Promise<void> {
  const deadline = Date.now() + patienceMs;
  for (const folder of hierarchies().flatMap(subfolders)) {
    const name = basename(folder);
    if (name === 'init' || name.startsWith('dustpan-jail-')) continue;
    while (!removeTree(folder)) {
      if (Date.now() > deadline) throw new Error(`a cgroup is not empty: ${folder}`);
      await sleep(20);
    }
  }
}

function hierarchies(): readonly string[] {
  const top = '/sys/fs/cgroup';
  return existsSync(join(top, 'cgroup.controllers')) ? [top] : subfolders(top);
}

function subfolders(dir: string): readonly string[] {
  const entries = readdirSync(dir, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(dir, name));
}

function removeTree(folder: string): boolean {
  try {
    for (const inner of subfolders(folder)) removeTree(inner);
    rmdirSync(folder);
  } catch {
    // a process that is ending or has ended
  }
  return !existsSync(folder);
}
