import { appendFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface LogRoots {
  /** Like `/var/log/pods`; undefined = no logs, except for pods with their own directory. */
  readonly pods?: string | undefined;
  /** Like `/var/log/containers`; undefined = no links. */
  readonly containers?: string | undefined;
}

export const podLogDirectory = (
  root: string,
  pod: { readonly namespace: string; readonly name: string; readonly uid: string },
): string => join(root, `${pod.namespace}_${pod.name}_${pod.uid}`);

/** Appends one line of stdout in CRI format, or nothing; creates file and folders. */
export function writeLog(path: string, text: string, at: Date): void {
  mkdirSync(dirname(path), { recursive: true });
  appendFileSync(path, text === '' ? '' : `${at.toISOString().replace('Z', '000000Z')} stdout F ${text}\n`);
}

export function linkLog(
  root: string,
  logPath: string,
  container: { readonly pod: string; readonly namespace: string; readonly name: string; readonly id: string },
): void {
  mkdirSync(root, { recursive: true });
  symlinkSync(
    logPath,
    join(root, `${container.pod}_${container.namespace}_${container.name}-${container.id}.log`),
  );
}
