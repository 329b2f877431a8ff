import { appendFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Folders of the node that pods' logs are written to. */
export interface LogRoots {
  /** As `/var/log/pods`; undefined = pods have no logs unless they bring a directory. */
  readonly pods?: string | undefined;
  /** As `/var/log/containers`; undefined = no links. */
  readonly containers?: string | undefined;
}

/** The kubelet's name for the log directory of a pod. */
export const podLogDirectory = (
  root: string,
  pod: { readonly namespace: string; readonly name: string; readonly uid: string },
): string => join(root, `${pod.namespace}_${pod.name}_${pod.uid}`);

/** Makes the file with its folders, empty or with one line of stdout in the form of the CRI. */
export function writeLog(path: string, text: string, at: Date): void {
  mkdirSync(dirname(path), { recursive: true });
  appendFileSync(path, text === '' ? '' : `${at.toISOString().replace('Z', '000000Z')} stdout F ${text}\n`);
}

/** The link the kubelet makes for log collectors. */
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
