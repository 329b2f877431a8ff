import type { HoldRule } from '../../api/policy/policy.ts';
import type { HeldImages } from '../../api/report/node-pass.ts';
import { formatDuration } from '../../runtime/text/duration.ts';
import { metaTime } from '../../runtime/text/rfc3339.ts';
import type { Meaning, Why } from '../words.ts';

/** A large removal by a new generation of a policy. */
interface HeldRemoval extends HoldRule {
  readonly due: number;
  readonly governed: number;
  readonly generation: number;
}

/** `what`: the objects, in the plural; `field`: the block of the policy that has holdAbove. */
interface Held {
  readonly what: string;
  readonly field: string;
}

export const holdMeaning = ({ what, field }: Held): Meaning => ({
  meaning: `It is due, but a new generation of the policy would remove many ${what}, and its first large pass waits for ${field}.holdFor.`,
  change: `${field}.holdFor has passed since the first pass under this generation; or somebody sets the annotation gc.dustpan.dev/skip-hold of the policy to its generation.`,
});

export const explainHold = (
  { what, field }: Held,
  { due, governed, generation, above, forMs }: HeldRemoval,
): Why => ({
  detail:
    `It is due, but generation ${generation} of the policy would remove ${due} of ${governed} ${what}: more than ${above}, and more than half. ` +
    `The first such pass of a generation waits ${formatDuration(forMs)}.`,
  field: `${field}.holdAbove=${above}, ${field}.holdFor=${formatDuration(forMs)}`,
});

interface HeldPolicy {
  readonly name: string;
  readonly generation: number;
}

/** What a generation would remove, until when it waits (in whole seconds, as in the status), and what to do. */
export const holdText = (policy: HeldPolicy, removal: string, until: Date): string =>
  `Generation ${policy.generation} would ${removal}; dustpan waits until ${metaTime(until)}. ${holdCommands(policy)}`;

/** The same of the images of a node. */
export const heldImagesText = (policy: HeldPolicy, { due, unused, until }: HeldImages): string =>
  holdText(policy, `remove ${due} of ${unused} unused images of this node`, until);

/** How to end the hold of a generation, or take the policy back. */
export const holdCommands = ({ name, generation }: HeldPolicy): string =>
  `To go on now: kubectl annotate gcpolicy ${name} --overwrite gc.dustpan.dev/skip-hold=${generation}. ` +
  `To take it back: kubectl patch gcpolicy ${name} --type=merge -p '{"spec":{"mode":"DryRun"}}'`;
