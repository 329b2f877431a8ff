import type { CheckpointsPolicy } from '../../api/policy/policy.ts';
import { timeText } from '../../gc/reasons/words.ts';
import type { Why } from '../../gc/words.ts';
import { formatDuration } from '../../runtime/text/duration.ts';
import { quantityText } from '../../runtime/text/quantity.ts';
import type { CheckpointLimit } from './facts.ts';

const checkpointFields = ({ maxAgeMs, maxPerPod, maxBytes }: CheckpointsPolicy) => ({
  maxAge: `nodes.checkpoints.maxAge=${maxAgeMs === undefined ? '0s' : formatDuration(maxAgeMs)}`,
  maxPerPod: `nodes.checkpoints.maxPerPod=${maxPerPod ?? -1}`,
  maxBytes: `nodes.checkpoints.maxBytes=${maxBytes === undefined ? '""' : quantityText(maxBytes)}`,
});

const checkpointTexts: Readonly<Record<CheckpointLimit, string>> = {
  maxAge: 'It is older than the policy allows.',
  maxPerPod: 'Its container has more newer checkpoints than the policy allows.',
  maxBytes:
    'The checkpoints of the node are larger than the policy allows, and this one is among the oldest.',
};

export const explainCheckpoint = (limit: CheckpointLimit, rule: CheckpointsPolicy | undefined): Why => ({
  detail: checkpointTexts[limit],
  field: rule && checkpointFields(rule)[limit],
});

export const underCheckpointLimits = (rule: CheckpointsPolicy | undefined): Why => ({
  detail: 'It is within the limits for checkpoints.',
  field: rule && Object.values(checkpointFields(rule)).join(', '),
});

export const explainWritten = (sinceMs: number, leastAgeMs: number): Why => ({
  detail: `It was last written at ${timeText(sinceMs)}, and is kept for at least ${formatDuration(leastAgeMs)}, because the runtime may still write it.`,
});
