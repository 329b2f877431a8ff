import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { isObject } from '../../api/json.ts';
import type { OpenDirectory } from '../logs/directory.ts';

/** What the kubelet writes about the mount of a CSI volume into a pod's directory (`SetUpAt`, pkg/volume/csi/csi_mounter.go). */
export interface CsiVolume {
  /** Names of the VolumeAttachments that the volume may have on its node. */
  readonly attachments: readonly string[];
  /** Where the volume is mounted for all pods of the node, below the kubelet's `plugins/kubernetes.io/csi`. */
  readonly stagingPaths: readonly string[];
  /** When the kubelet last wrote the data, in Unix milliseconds: at the start of each attempt to mount the volume. */
  readonly writtenMs: number;
}

const volumeDataName = 'vol_data.json';

/** Whether a file is the kubelet's data of a CSI volume, by the names on the way to it. */
export const isVolumeData = ([first, plugin, , name, ...more]: readonly string[]): boolean =>
  first === 'volumes' && plugin === 'kubernetes.io~csi' && name === volumeDataName && more.length === 0;

/** The kubelet writes some hundred bytes. */
const maxBytes = 64 * 1024;

/** Reads the data of a CSI volume in its directory. undefined = unreadable, such as the empty file that a power failure leaves. */
export async function readVolumeData(directory: OpenDirectory): Promise<CsiVolume | undefined> {
  const stats = await directory.stat(volumeDataName);
  if (stats?.isFile() !== true || stats.size > maxBytes) return undefined;
  const volume = csiVolumeOf((await directory.read(volumeDataName)) ?? '');
  return volume && { ...volume, writtenMs: stats.mtimeMs };
}

/** Reads the text of `vol_data.json`; undefined = it lacks something that identifies the volume and its node. */
export function csiVolumeOf(text: string): Omit<CsiVolume, 'writtenMs'> | undefined {
  const data = parsed(text);
  if (!isObject(data)) return undefined;
  const { volumeHandle: handle, driverName: driver, nodeName: node, attachmentID, specVolID } = data;
  if (!isName(handle) || !isName(driver) || !isName(node) || !isName(specVolID)) return undefined;
  if (!isName(attachmentID) || !/^csi-[0-9a-f]{64}$/.test(attachmentID)) return undefined;
  return {
    // As the attach-detach controller computes it (`getAttachmentName`, pkg/volume/csi/csi_attacher.go).
    attachments: [...new Set([attachmentID, `csi-${sha256(handle + driver + node)}`])],
    // Since Kubernetes 1.24, and before (`makeDeviceMountPath`, pkg/volume/csi/csi_attacher.go).
    stagingPaths: [join(driver, sha256(handle), 'globalmount'), join('pv', specVolID, 'globalmount')],
  };
}

const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
