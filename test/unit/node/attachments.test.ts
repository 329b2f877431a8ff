import { describe, expect, test } from 'vitest';
import { Attachments } from '../../../src/node/storage/attachments.ts';
import { csiVolumeOf } from '../../../src/node/storage/csi-volume.ts';

const never = new AbortController().signal;
const data = {
  attachmentID: `csi-${'0'.repeat(64)}`,
  driverName: 'driver',
  nodeName: 'node',
  specVolID: 'pv',
  volumeHandle: 'vol',
};

describe('vol_data.json', () => {
  test('names the VolumeAttachment, also as the attach-detach controller computes it, and the mounts for the node', () => {
    const { attachments = [], stagingPaths = [] } = csiVolumeOf(JSON.stringify(data)) ?? {};
    const computed = 'csi-4af94228ee9d441e02225497584706bfc975bdb4d2db3571d8c5db2668c1e969';
    expect(attachments).toEqual([data.attachmentID, computed]);
    expect(stagingPaths.map((path) => path.replace(/[0-9a-f]{64}/, 'SHA'))).toEqual([
      'driver/SHA/globalmount',
      'pv/pv/globalmount',
    ]);
    expect(csiVolumeOf(JSON.stringify({ ...data, attachmentID: computed }))?.attachments).toEqual([computed]);
  });

  test.each([
    ['empty', ''],
    ['cut', JSON.stringify(data).slice(0, 50)],
    ['no object', '[]'],
    ...Object.keys(data).flatMap((name) => [
      [`without ${name}`, JSON.stringify({ ...data, [name]: undefined })],
      [`with an empty ${name}`, JSON.stringify({ ...data, [name]: '' })],
      [`with a number as ${name}`, JSON.stringify({ ...data, [name]: 1 })],
    ]),
    ['with another path as attachmentID', JSON.stringify({ ...data, attachmentID: '../pods' })],
  ])('%s: identifies no volume', (_, text) => {
    expect(csiVolumeOf(text)).toBeUndefined();
  });
});

describe('VolumeAttachments', () => {
  const names = (count: number) => new Set(Array.from({ length: count }, (_, i) => `csi-${i}`));

  test('are read in turns if there are many', async () => {
    const reads: string[] = [];
    const attachments = new Attachments((name) => Promise.resolve(reads.push(name) > 0));
    const all = names(45);
    await attachments.refresh(all, never);
    expect([...all].filter((name) => attachments.exists(name) === undefined)).toHaveLength(25);
    await attachments.refresh(all, never);
    await attachments.refresh(all, never);
    expect(new Set(reads)).toEqual(all);
    expect([...all].every((name) => attachments.exists(name) === true)).toBe(true);
  });

  test('one that cannot be read is unknown, also if it was read before; the others are not tried', async () => {
    const failing = new Set<string>();
    const reads: string[] = [];
    const attachments = new Attachments((name) => {
      reads.push(name);
      return failing.has(name) ? Promise.reject(new Error('forbidden')) : Promise.resolve(false);
    });
    await attachments.refresh(names(2), never);
    expect(attachments.problem).toBeUndefined();
    failing.add('csi-0');
    await attachments.refresh(names(2), never);
    expect(reads).toEqual(['csi-0', 'csi-1', 'csi-0']);
    expect(attachments.problem).toBe('forbidden');
    expect([attachments.exists('csi-0'), attachments.exists('csi-1')]).toEqual([undefined, false]);
    await expect(attachments.refresh(names(2), AbortSignal.abort())).rejects.toThrow();
  });

  test('those that nothing needs any more are forgotten', async () => {
    const attachments = new Attachments(() => Promise.resolve(true));
    await attachments.refresh(names(1), never);
    await attachments.refresh(new Set(['csi-x']), never);
    expect([attachments.exists('csi-0'), attachments.exists('csi-x')]).toEqual([undefined, true]);
  });
});
