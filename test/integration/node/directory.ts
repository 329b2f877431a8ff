import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';

/** Creates an empty directory before each test of the file; the function returns paths below it. */
export function temporaryDirectory(): (...names: readonly string[]) => string {
  let base = '';
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'dustpan-node-'));
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));
  return (...names) => join(base, ...names);
}

/** Writes a file of this many bytes, and its directories. */
export function file(path: string, content: number | string = 10): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : 'x'.repeat(content));
  return path;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The VolumeAttachment of the volume of `writeVolumeData`, as the attach-detach controller names it. */
export const csiAttachment = `csi-${sha256('vol-1csi.example.comnode-1')}`;
/** Where the volume is mounted for the node. */
export const csiStaging = `plugins/kubernetes.io/csi/csi.example.com/${sha256('vol-1')}/globalmount`;

/** Writes what the kubelet writes about a mounted CSI volume; a VolumeAttachment of another name makes it unusual. */
export const writeVolumeData = (volume: string, attachmentID = `csi-${'a'.repeat(64)}`): string =>
  file(
    join(volume, 'vol_data.json'),
    JSON.stringify({
      attachmentID,
      driverName: 'csi.example.com',
      nodeName: 'node-1',
      specVolID: 'pv',
      volumeHandle: 'vol-1',
      volumeLifecycleMode: 'Persistent',
    }),
  );

/** The paths that this process has open, at or below `path`. Their number alone would change with whatever else is open. */
export function openBelow(path: string): readonly string[] {
  return readdirSync('/proc/self/fd')
    .map((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`);
      } catch {
        return ''; // the handle of the list itself
      }
    })
    .filter((open) => open === path || open.startsWith(`${path}/`));
}
