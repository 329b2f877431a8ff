import { formatValue } from '../../api/json.ts';
import type { HoldRule, Policy } from '../../api/policy/policy.ts';
import { formatDuration } from '../../runtime/text/duration.ts';
import { printable } from '../../runtime/text/printable.ts';
import { metaTime } from '../../runtime/text/rfc3339.ts';
import { defaultAbove, removableAtOnce, type HeldImages, type HoldCounts } from '../hold.ts';
import type { Meaning, Why } from '../words.ts';

interface HeldRemoval extends HoldCounts {
  readonly due: number;
}

/** `what`: the objects, in the plural; `field`: the block of the policy that has holdAbove. */
interface Held {
  readonly what: string;
  readonly field: string;
}

export const holdMeaning = ({ what, field }: Held): Meaning => ({
  meaning: `It is due, but the rules of the policy are new and would remove many ${what}: the first large pass waits for ${field}.holdFor.`,
  change: `${field}.holdFor has passed since the first pass under these rules; or somebody sets the annotation gc.dustpan.dev/skip-hold of the policy to the id of its rules.`,
});

export const explainHold = (
  { what, field }: Held,
  { above, forMs }: HoldRule,
  { due, ...counts }: HeldRemoval,
): Why => ({
  detail:
    `It is due, but the rules of the policy are new: the policy, one above it, or the version of dustpan has changed. ` +
    `They would remove ${due} of ${counts.governed} ${what}: more than ${limitText(above, counts)}. ` +
    `The first such pass waits ${formatDuration(forMs)}.`,
  field: `${field}.holdAbove=${aboveText(above)}, ${field}.holdFor=${formatDuration(forMs)}`,
});

export const aboveText = (above: number | undefined): string => (above === undefined ? 'unset' : `${above}`);

function limitText(above: number | undefined, counts: HoldCounts): string {
  if (above !== undefined) return `${above}, and more than half`;
  const { removable } = counts;
  return removableAtOnce({ above }, counts) > defaultAbove
    ? `a tenth of the ${removable} that the rules could ever remove`
    : `${defaultAbove}`;
}

type HeldPolicy = Pick<Policy, 'name' | 'rulesId' | 'skipHoldOf'>;

/** What new rules would remove, until when it waits (in whole seconds, as in the status), and what to do. */
export const holdText = (policy: HeldPolicy, removal: string, until: Date): string =>
  `The rules of the policy are new and would ${removal}; dustpan waits until ${metaTime(until)}. ${holdCommands(policy)}`;

/** The same of the images of a node. */
export const heldImagesText = (policy: HeldPolicy, { due, unused, until }: HeldImages): string =>
  holdText(policy, `remove ${due} of ${unused} unused images of this node`, until);

/** How to end the hold of these rules, or take the policy back. Names an annotation that was meant to end it and does not. */
export const holdCommands = ({ name, rulesId, skipHoldOf = rulesId }: HeldPolicy): string =>
  (skipHoldOf === rulesId
    ? ''
    : `The annotation gc.dustpan.dev/skip-hold of the policy is ${printable(formatValue(skipHoldOf))}, not the id of these rules, and ends no hold. `) +
  `To go on now: kubectl annotate gcpolicy ${name} --overwrite gc.dustpan.dev/skip-hold=${rulesId}. ` +
  `To take it back: kubectl patch gcpolicy ${name} --type=merge -p '{"spec":{"mode":"DryRun"}}'`;
