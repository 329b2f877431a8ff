import { nodeMeaning } from './meaning.ts';
import { fatesOf, problemsOf, type Findings } from './node-check.ts';
import { idOf, isPresent, mebibytes, type Scene } from './node-scene.ts';
import type { NodeLook } from './node-view.ts';
import type { LogLine, Program } from './program.ts';
import { bold, green, red, table } from './screen.ts';
import type { Stage } from './stage.ts';

/** What there is to be judged. */
interface Outcome {
  readonly agent: Program;
  readonly before: NodeLook;
  readonly after: NodeLook;
}

/** The reckoning, thing by thing: what the agent's own log says went, what is left and why. */
export function reckon(stage: Stage, { cri, mess: { things }, hasDisk }: Scene, outcome: Outcome): boolean {
  const { screen } = stage;
  const { agent, after } = outcome;
  const removals = agent.log.filter(({ msg }) => msg?.startsWith('removed '));
  const findings: Findings = {
    present: (id) => isPresent(cri, id),
    went: new Map(removals.map((line) => [idOf(line), line.reason ?? ''])),
    stays: after.kept,
  };
  screen.say();
  screen.say(bold('what of the node went, what stayed, and why'));
  for (const line of table([['', 'made', '', '', ''], ...fatesOf(things, findings)])) screen.say(line);
  screen.say();
  // DryRun showed it, where there is a disk to be freed.
  const shownBefore = hasDisk ? ['TargetMet'] : [];
  screen.explain(
    nodeMeaning,
    new Set([...findings.went.values(), ...findings.stays.values(), ...shownBefore]),
  );
  screen.say();
  const problems = problemsOf(things, findings);
  for (const problem of problems) screen.say(red(problem));
  if (problems.length > 0) return false;
  const left = things.filter(({ id }) => findings.present(id)).length;
  for (const line of sums({ ...outcome, removals, made: things.length, left, hasDisk }))
    screen.say(green(line));
  return true;
}

interface Sums extends Omit<Outcome, 'agent'> {
  readonly removals: readonly LogLine[];
  readonly made: number;
  readonly left: number;
  readonly hasDisk: boolean;
}

function sums({ removals, before, after, made, left, hasDisk }: Sums): string[] {
  const freed = (isCounted: (line: LogLine) => boolean): string =>
    mebibytes(removals.filter(isCounted).reduce((sum, { freedBytes = 0 }) => sum + freedBytes, 0));
  const { length } = removals;
  const things = `${made} things before, ${length} removed and ${made - left - length} with them, ${left} left; each with a reason`;
  const logs = `${freed(({ image }) => image === undefined)} of logs`;
  const nominal = mebibytes(before.imageBytes - after.imageBytes);
  if (!hasDisk) return [things, `freed: ${nominal} of images, as the runtime counts, and ${logs}`];
  const images = freed(({ image }) => image !== undefined);
  const percent = `disk ${before.disk.usedPercent} % → ${after.disk.usedPercent} %`;
  return [things, `freed, as measured: ${images} of images (${percent}), ${logs}`];
}
