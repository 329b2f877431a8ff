import { containerReasons } from '../../../src/agent/containergc/words.ts';
import { imageReasons } from '../../../src/agent/imagegc/words.ts';
import type { Context } from '../context.ts';
import type { LogLine, Program } from '../program.ts';
import { bold, green, outcomeTable, red } from '../screen.ts';
import type { NodeObject } from './objects.ts';
import { isPresent, type DemoNode, type NodeState } from './setup.ts';

interface Cleaned {
  readonly agent: Program;
  readonly before: NodeState;
  readonly after: NodeState;
}

/** Shows the outcome of each object on the node; returns whether all are as expected, for the expected reason. */
export function showResult({ screen }: Context, node: DemoNode, cleaned: Cleaned): boolean {
  const { agent, after } = cleaned;
  const objects = node.objects.all;
  const removals = agent.log.filter(({ msg }) => msg?.startsWith('removed '));
  const findings: Findings = {
    isPresent: (id) => isPresent(node.cri, id),
    removedFor: new Map(removals.map((line) => [idOf(line), line.reason ?? ''])),
    keptFor: after.kept,
  };
  screen.print();
  screen.print(bold('what was removed from the node, what was kept, and why'));
  const outcomes = objects.map(({ id, group, reason = 'with their containers' }) => ({
    ...{ group, reason },
    outcome: findings.isPresent(id) ? 'kept' : 'removed',
  }));
  for (const line of outcomeTable(outcomes)) screen.print(line);
  screen.print();
  // DryRun showed this reason, if the node has a disk.
  const shownBefore = node.hasDisk ? ['TargetMet'] : [];
  const reasons = [...findings.removedFor.values(), ...findings.keptFor.values(), ...shownBefore];
  screen.explain({ ...containerReasons, ...imageReasons }, new Set(reasons));
  screen.print();
  const problems = problemsOf(objects, findings);
  for (const problem of problems) screen.print(red(problem));
  if (problems.length > 0) return false;
  const left = objects.filter(({ id }) => findings.isPresent(id)).length;
  const withThem = objects.length - left - removals.length;
  const sums = `${objects.length} objects before, ${removals.length} removed and ${withThem} with them, ${left} left`;
  screen.print(green(sums));
  screen.print(green(freedLine(node, cleaned, removals)));
  return true;
}

/** Reasons by id. */
interface Findings {
  readonly isPresent: (id: string) => boolean;
  /** From the agent's log. */
  readonly removedFor: ReadonlyMap<string, string>;
  /** From the plan. */
  readonly keptFor: ReadonlyMap<string, string>;
}

/** What is lost, what should be gone, and what was removed or kept for another reason. */
function problemsOf(objects: readonly NodeObject[], findings: Findings): readonly string[] {
  const known = new Set(objects.map(({ id }) => id));
  const unknown = [...findings.removedFor.keys()].filter((id) => !known.has(id));
  return [
    ...objects.flatMap((object) => problemOf(object, findings) ?? []),
    ...unknown.map((id) => `removed, but the demo did not create it: ${id}`),
  ];
}

function problemOf({ id, group, isGarbage, reason }: NodeObject, findings: Findings): string | undefined {
  const what = `${group} (${id})`;
  const isThere = findings.isPresent(id);
  if (!isGarbage && !isThere) return `lost: ${what}`;
  if (isGarbage && isThere) return `still there: ${what}`;
  const given = (isGarbage ? findings.removedFor : findings.keptFor).get(id);
  if (given === reason) return undefined;
  return `${what}: the reason is ${given ?? 'missing'}, not ${reason ?? 'missing'}`;
}

function freedLine({ hasDisk }: DemoNode, { before, after }: Cleaned, removals: readonly LogLine[]): string {
  const freed = (isCounted: (line: LogLine) => boolean): string =>
    mebibytes(removals.filter(isCounted).reduce((sum, { freedBytes = 0 }) => sum + freedBytes, 0));
  const logs = `${freed(({ image }) => image === undefined)} of logs`;
  const nominal = mebibytes(before.imageBytes - after.imageBytes);
  if (!hasDisk) return `freed: ${nominal} of images, as the runtime counts, and ${logs}`;
  const images = freed(({ image }) => image !== undefined);
  return `freed, as measured: ${images} of images (disk ${before.usedPercent} % → ${after.usedPercent} %), ${logs}`;
}

/** The object of a line of the agent's log. */
export const idOf = ({ image, container, sandbox, path }: LogLine): string =>
  image ?? container ?? sandbox ?? path ?? '';

export const mebibytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
