import { readFile } from 'node:fs/promises';

export interface Mount {
  readonly point: string;
  readonly isReadOnly: boolean;
  /** Later mounts of the node below it appear here too (a shared mount, or a slave of one). */
  readonly isPropagated: boolean;
}

/** Returns all mounts of this process, in the order in which they cover each other. */
export async function readMounts(file = '/proc/self/mountinfo'): Promise<readonly Mount[]> {
  const text = await readFile(file, 'utf8');
  return text.split('\n').flatMap((line) => mountOfLine(line));
}

/** `id parent device root POINT OPTIONS [shared:N master:N …] - type source SUPEROPTIONS`; blanks and backslashes in paths are octal numbers. */
function mountOfLine(line: string): readonly Mount[] {
  const [head = '', tail = ''] = line.split(' - ');
  const [, , , , point, options = '', ...tags] = head.split(' ');
  if (point === undefined) return [];
  const superOptions = tail.split(' ')[2] ?? '';
  return [
    {
      point: point.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8))),
      isReadOnly: [options, superOptions].some((list) => list.split(',').includes('ro')),
      isPropagated: tags.some((tag) => /^(shared|master):/.test(tag)),
    },
  ];
}

export function mountOf(path: string, mounts: readonly Mount[]): Mount | undefined {
  const around = mounts.filter(({ point }) => point === '/' || isAtOrBelow(path, point));
  const longest = Math.max(...around.map(({ point }) => point.length));
  return around.findLast(({ point }) => point.length === longest);
}

/** The mount points at or below a path, in the order in which they cover each other. */
export const mountsBelow = (path: string, mounts: readonly Mount[]): readonly string[] =>
  mounts.map(({ point }) => point).filter((point) => isAtOrBelow(point, path));

export const isAtOrBelow = (path: string, root: string): boolean =>
  path === root || path.startsWith(`${root}/`);
