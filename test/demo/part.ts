import type { PlanDocument, PlanObject } from '../../src/evaluation/plan/document.ts';
import { policiesPath, until, type Context } from './context.ts';
import { dustpan, type LogLine, type Program } from './program.ts';
import { bold, countBy, dim, explain, frame, green, print, red, sideBySide, table } from './screen.ts';

/** Objects that are made alike and have the same outcome. */
export interface Group {
  readonly name: string;
  /** IDs of the runtime, paths, or names of pods. */
  readonly ids: readonly string[];
  /** So many must be there in the end: all that are in use, and of the others those that the policy keeps. */
  readonly left: number;
  /** They have no decision of their own. */
  readonly goWith?: string;
}

/** A component that cleans up: first in DryRun, then in Enforce. */
export interface Part {
  readonly policy: string;
  /** `pods`, `objects` */
  readonly what: string;
  readonly gone: 'deleted' | 'removed';
  readonly program: Program;
  readonly env: Readonly<Record<string, string>>;
  readonly groups: readonly Group[];
  readonly meanings: Parameters<typeof explain>[0];
  /** The IDs that the server, the runtime and the file system have now. */
  readonly present: () => Promise<ReadonlySet<string>>;
  /** A line above the plan. */
  readonly headline: (left: number, usedPercent: number) => string;
}

/** What the built `dustpan plan` decides now: reasons by ID. */
interface Plan {
  readonly due: ReadonlyMap<string, string>;
  readonly kept: ReadonlyMap<string, string>;
  readonly usedPercent: number;
}

const idOf = (object: PlanObject): string =>
  object.kind === 'Pod' ? object.name : (object.id ?? object.path ?? '');
const loggedId = ({ image, container, sandbox, path, pod }: LogLine): string =>
  image ?? container ?? sandbox ?? path ?? pod?.name ?? '';
const allIds = ({ groups }: Part): readonly string[] => groups.flatMap(({ ids }) => ids);

/** The plan without waiting periods, of the objects of this part. */
async function planOf(part: Part): Promise<Plan> {
  const args = ['plan', '--kept', '--assume-quarantine-elapsed', '-o', 'json'];
  const { decisions, summary } = JSON.parse(await dustpan(args, part.env)) as PlanDocument;
  const known = new Set(allIds(part));
  const found = decisions.filter(({ object }) => known.has(idOf(object)));
  const reasons = (isKept: boolean): ReadonlyMap<string, string> =>
    new Map(
      found
        .filter(({ verdict }) => (verdict === 'Keep') === isKept)
        .map(({ object, reason }) => [idOf(object), reason]),
    );
  return { due: reasons(false), kept: reasons(true), usedPercent: summary[0]?.usedPercent ?? 0 };
}

async function shown(part: Part, isLast: (plan: Plan) => boolean): Promise<Plan | undefined> {
  const plan = await planOf(part);
  const lines = sideBySide(plan.due.values(), plan.kept.values());
  const done = isLast(plan);
  frame([part.headline((await part.present()).size, plan.usedPercent), ...lines], { isLast: done });
  return done ? plan : undefined;
}

const passesIn = (log: readonly LogLine[]): number => log.filter(({ msg }) => msg === 'planned pass').length;
const removalsIn = (log: readonly LogLine[]): readonly LogLine[] =>
  log.filter(({ msg = '' }) => msg === 'deleted pod' || msg.startsWith('removed '));

/** Resolves with whether each object had the expected outcome, for a reason. */
export async function showPart(context: Context, part: Part): Promise<boolean> {
  print(
    `${bold('mode DryRun')} ${dim('(the default): everything is decided and counted, nothing is touched')}`,
  );
  const planned = await showDryRun(part);
  print();
  print(bold('mode Enforce'));
  print(dim(`  kubectl patch gcpolicy ${part.policy} --type merge -p '{"spec":{"mode":"Enforce"}}'`));
  await context.send('PATCH', `${policiesPath}/${part.policy}`, { spec: { mode: 'Enforce' } });
  return showResult(part, planned, await showEnforce(part));
}

/** Waits until the log names everything that is due; all objects must be there then. */
async function showDryRun(part: Part): Promise<Plan> {
  const all = allIds(part);
  const logged = (): Set<string> =>
    new Set(part.program.log.filter(({ msg = '' }) => msg.startsWith('would ')).map(loggedId));
  const plan = await until('the log names all that is due', () =>
    shown(part, ({ due }) => [...due.keys()].every((id) => logged().has(id))),
  );
  const wrong = [...logged()].filter((id) => !plan.due.has(id));
  if (wrong.length > 0) throw new Error(`the log names what is not due: ${wrong.join(', ')}`);
  const there = await part.present();
  if (removalsIn(part.program.log).length > 0 || all.some((id) => !there.has(id)))
    throw new Error('DryRun touched an object');
  print(
    green(`the log names ${plan.due.size} ${part.what} that it would remove; all ${all.length} are there`),
  );
  return plan;
}

/** Waits until nothing is due, and for further passes: they would remove what is not part of the plan. */
async function showEnforce(part: Part): Promise<Plan> {
  let quietSince: number | undefined;
  return await until('nothing is due', () =>
    shown(part, ({ due }) => {
      const passes = passesIn(part.program.log);
      quietSince = due.size > 0 ? undefined : (quietSince ?? passes);
      return quietSince !== undefined && passes >= quietSince + 4;
    }),
  );
}

async function showResult(part: Part, planned: Plan, { kept }: Plan): Promise<boolean> {
  const removed = new Map(removalsIn(part.program.log).map((line) => [loggedId(line), line.reason ?? '']));
  const there = await part.present();
  const reasonOf = (id: string, { goWith = 'unknown' }: Group): string =>
    (there.has(id) ? kept : removed).get(id) ?? goWith;
  print();
  print(bold(`what was ${part.gone}, what was kept, and why`));
  const rows = part.groups.flatMap((group) => {
    const outcomes = group.ids.map((id) => `${there.has(id) ? 'kept' : part.gone}/${reasonOf(id, group)}`);
    return countBy(outcomes.toSorted()).map(([outcome, count], i) => {
      const [fate = '', reason = ''] = outcome.split('/');
      return [...(i === 0 ? [group.name, String(group.ids.length)] : ['', '']), fate, String(count), reason];
    });
  });
  for (const line of table([['', 'made', '', '', ''], ...rows])) print(line);
  print();
  explain(part.meanings, new Set([...rows.map((row) => row[4] ?? ''), ...planned.kept.values()]));
  print();
  const problems = problemsOf(part, there, [...removed.keys()]);
  for (const problem of problems) print(red(problem));
  if (problems.length > 0 || rows.some((row) => row[4] === 'unknown')) return false;
  const all = allIds(part);
  const left = all.filter((id) => there.has(id)).length;
  print(
    green(
      `${all.length} ${part.what} before, ${all.length - left} ${part.gone}, ${left} left; each with a reason`,
    ),
  );
  return true;
}

/** What is lost, what should be gone, and what was not made for the demo. */
function problemsOf(part: Part, there: ReadonlySet<string>, removed: readonly string[]): readonly string[] {
  const known = new Set(allIds(part));
  return [
    ...part.groups.flatMap(({ name, ids, left }) => {
      const missing = left - ids.filter((id) => there.has(id)).length;
      if (missing === 0) return [];
      return [`${missing > 0 ? 'lost' : 'still there'}: ${name} (${Math.abs(missing)} of ${ids.length})`];
    }),
    ...removed.filter((id) => !known.has(id)).map((id) => `removed, but the demo did not make it: ${id}`),
  ];
}
