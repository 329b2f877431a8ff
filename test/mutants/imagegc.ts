import { imageKeepReasons, imageRemoveReasons } from '../../src/api/reasons.ts';
import type { MutantGroup } from './group.ts';

const phase = 'src/api/pod-phase.ts';
const plan = 'src/agent/imagegc/plan.ts';
const holds = 'src/agent/imagegc/holds.ts';
const records = 'src/agent/imagegc/records.ts';
const disk = 'src/agent/imagegc/disk.ts';
const index = 'src/api/image-index.ts';

export const imageGcMutants: MutantGroup = {
  unit: 'imagegc',
  reasons: [...imageRemoveReasons, ...imageKeepReasons],
  tests: ['test/unit/agent/imagegc/'],
  mutants: [
    [
      'Age: longer than the maximum',
      plan,
      'idleSinceMs(image) > maximumAgeMs',
      'idleSinceMs(image) >= maximumAgeMs',
    ],
    ['Age: idle, not old', plan, 'record.lastUsedMs ?? record.firstDetectedMs;', 'record.firstDetectedMs;'],
    ['Age: before the space step', plan, 'bytesOf(agedNow)', '0'],
    ['Space: down to the low threshold', disk, '100 - lowThresholdPercent', '100'],
    ['Space: no more than it takes', plan, 'candidates.slice(0, last + 1)', 'candidates'],
    ['Space: at least one', plan, '(sum += bytes) >= wantedBytes', '(sum += bytes) > wantedBytes'],
    [
      'InUse',
      plan,
      "if (usedBy !== undefined) return { reason: 'InUse', evidence: userOf(usedBy, containers) };",
      '',
    ],
    [
      'InUse: by a container',
      holds,
      'for (const container of containers) use(imageOf(container), container.id);',
      '',
    ],
    ['InUse: by a mount', holds, "for (const reference of mounted) use(reference, 'a mount');", ''],
    ['InUse: by what the container was made from', holds, "imageId === '' ? imageRef : imageId", 'imageRef'],
    ['BoundPod', plan, "if (boundPod !== undefined) return { reason: 'BoundPod', evidence: boundPod };", ''],
    [
      'BoundPod: a short name in any registry',
      index,
      'if (!reference.isQualified) for',
      'if (found.size === 0) for',
    ],
    ['BoundPod: a whole name in one registry', index, 'if (!reference.isQualified) for', 'for'],
    ['BoundPod: a pod of unknown images', holds, 'pod.images ?? [undefined]', 'pod.images ?? []'],
    ['BoundPod: unfinished', holds, '!isFinished(pod)', 'true'],
    ['BoundPod: not failed', phase, " || phase === 'Failed'", ''],
    ['Pinned', plan, "if (pinned) return { reason: 'Pinned', evidence: { isByRuntime: image.pinned } };", ''],
    ['Pinned: by one of its entries', holds, 'a.pinned || b.pinned', 'a.pinned && b.pinned'],
    ['Pinned: the image of sandboxes', holds, 'image.pinned || isOfSandboxes(image)', 'image.pinned'],
    [
      'Pinned: only the image that the runtime reports',
      holds,
      'ofSandboxes.size > 0 ? ofSandboxes.has(image.id) : isCalledPause(image)',
      'isCalledPause(image)',
    ],
    [
      'Pinned: by the usual name if the runtime reports none',
      holds,
      'ofSandboxes.size > 0 ? ofSandboxes.has(image.id) : isCalledPause(image)',
      'ofSandboxes.has(image.id)',
    ],
    ['KeepListed', plan, 'if (keepPattern === undefined) return undefined;', 'return undefined;'],
    ['TooYoung', plan, 'if (now.getTime() < oldEnoughAtMs) {', 'if (now.getTime() < 0) {'],
    ['TooYoung: to the millisecond', plan, 'now.getTime() < oldEnoughAtMs', 'now.getTime() <= oldEnoughAtMs'],
    [
      'TooYoung: longer after a repull',
      plan,
      'repullBackoff === true ? 2 : 1',
      'repullBackoff === true ? 1 : 1',
    ],
    [
      'TooYoung: only with repullBackoff',
      plan,
      'isRepulled(image, record) && rule?.repullBackoff === true',
      'isRepulled(image, record)',
    ],
    ['TooYoung: a repull within a day', records, 'firstDetectedMs - atMs <= regretMs', 'true'],
    [
      'TooYoung: of the future',
      records,
      'Math.min(known?.firstDetectedMs ?? nowMs, nowMs)',
      'known?.firstDetectedMs ?? nowMs',
    ],
    ['TooYoung: while no agent ran', records, 'unseen <= unseenMs', 'true'],
    ['TooYoung: while the clock jumped', records, 'if (jumpedMs <= 0) return known;', 'return known;'],
    ['UsedRecently', plan, 'lastUsedMs >= now.getTime()', 'false'],
    ['BelowThreshold', disk, 'usedPercent < high', 'usedPercent <= high'],
    ['BelowThreshold: 100 is off', disk, 'if (high >= 100)', 'if (high > 100)'],
    ['TargetMet: by age alone', disk, 'wantedBytes <= 0 && freedByAge > 0', 'false'],
    [
      'TargetMet: is the reason',
      plan,
      "space.kind === 'needed' ? 'TargetMet' : space.reason",
      "space.kind === 'needed' ? 'BelowThreshold' : space.reason",
    ],
    ['PacingLimit: by age', plan, 'const agedNow = aged.slice(0, maxImages);', 'const agedNow = aged;'],
    [
      'PacingLimit: together',
      plan,
      'wanted.slice(0, maxImages - agedNow.length)',
      'wanted.slice(0, maxImages)',
    ],
    ['ClockUnsure', plan, "clockUnsure === true ? bare('ClockUnsure') : undefined", 'undefined'],
    ['PodsUnknown', plan, "if (pods === undefined) return bare('PodsUnknown');", ''],
    ['ContainersUnknown: no list', plan, 'containers === undefined || ', ''],
    [
      'ContainersUnknown: one whose image is unknown',
      plan,
      " || containers.some((container) => imageOf(container) === '')",
      '',
    ],
    [
      'DiskUnknown',
      disk,
      "state: 'Unknown', reason: 'DiskUnknown'",
      "state: 'Idle', reason: 'BelowThreshold'",
    ],
    ['DiskUnknown: no capacity', disk, 'disk.capacityBytes >= 1 &&', ''],
    ['order: never used first', plan, '(a.record.lastUsedMs ?? -1) - (b.record.lastUsedMs ?? -1) ||', ''],
    ['order: then the first detected', plan, 'a.record.firstDetectedMs - b.record.firstDetectedMs ||', ''],
    ['order: then by id', plan, '(a.id < b.id ? -1 : 1)', '(a.id < b.id ? 1 : -1)'],
    [
      'memory: an image in use was used now',
      records,
      'used.has(image.id) ? { ...known, lastUsedMs: nowMs } : known',
      'known',
    ],
    ['memory: an image pulled again is new', records, 'images.delete(id);', ''],
  ],
};
