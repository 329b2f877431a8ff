import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Everything that a node may leave behind on a machine. */
interface Traces {
  readonly processes: readonly string[];
  readonly mounts: readonly string[];
  readonly links: readonly string[];
  readonly cgroups: readonly string[];
}

/** Reads the current traces. */
export function traces(): Traces {
  return {
    processes: processes(),
    mounts: lines('/proc/self/mountinfo').map((line) => line.split(' ')[4] ?? ''),
    // Not /sys: that shows the network of the machine outside.
    links: lines('/proc/self/net/dev')
      .slice(2)
      .map((line) => line.split(':')[0]?.trim() ?? ''),
    cgroups: cgroups('/sys/fs/cgroup'),
  };
}

function processes(): readonly string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      return /^\d+$/.test(pid) ? [`${pid} ${readlinkSync(`/proc/${pid}/exe`)}`] : [];
    } catch {
      return []; // ended, or a kernel thread
    }
  });
}

function cgroups(dir: string): readonly string[] {
  return foldersOf(dir).flatMap((path) => [path, ...cgroups(path)]);
}

function foldersOf(dir: string): readonly string[] {
  try {
    const folders = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return folders.map(({ name }) => join(dir, name));
  } catch (err) {
    // Removed since its parent was read.
    if (['ENOENT', 'ENODEV'].includes((err as NodeJS.ErrnoException).code ?? '')) return [];
    throw err;
  }
}

function lines(file: string): readonly string[] {
  return readFileSync(file, 'utf8').trim().split('\n');
}
