/** Something on the node, and what should become of it. */
export interface Thing {
  /** Of an image, a container or a sandbox, or the path of a file. */
  readonly id: string;
  /** How a person calls it, together with others like it. */
  readonly group: string;
  readonly fate: 'goes' | 'stays';
  /** undefined = nothing is decided about it: a log goes or stays with its container. */
  readonly reason: string | undefined;
}

/** What there is to judge by. Reasons by id. */
export interface Findings {
  readonly present: (id: string) => boolean;
  /** As the agent's own log says. */
  readonly went: ReadonlyMap<string, string>;
  /** As the plan says of what is left. */
  readonly stays: ReadonlyMap<string, string>;
}

/** What is wrong, one line each; empty when every thing had the fate it should have, for the reason it should. */
export function problemsOf(things: readonly Thing[], findings: Findings): readonly string[] {
  const known = new Set(things.map(({ id }) => id));
  const strangers = [...findings.went.keys()].filter((id) => !known.has(id));
  return [
    ...things.flatMap((thing) => problemOf(thing, findings) ?? []),
    ...strangers.map((id) => `removed, and nobody knows what it is: ${id}`),
  ];
}

function problemOf({ id, group, fate, reason }: Thing, found: Findings): string | undefined {
  const what = `${group} (${id})`;
  const isThere = found.present(id);
  if (fate === 'stays' && !isThere) return `lost: ${what}`;
  if (fate === 'goes' && isThere) return `still there: ${what}`;
  const told = fate === 'goes' ? found.went.get(id) : found.stays.get(id);
  if (told === reason) return undefined;
  return `${what}: the reason is ${told ?? 'missing'}, not ${reason ?? 'missing'}`;
}

/** Where nothing is decided about a thing itself. */
const withContainer = 'with their containers';

/** What became of the things, group by group: how many there were, then for each fate and reason how many. */
export function fatesOf(things: readonly Thing[], { present }: Pick<Findings, 'present'>): string[][] {
  return grouped(things, ({ group }) => group).flatMap(([group, members]) =>
    grouped(members, ({ id, reason = withContainer }) => `${present(id) ? 'kept' : 'removed'}/${reason}`).map(
      ([fate, ones], i) => [
        ...(i === 0 ? [group, String(members.length)] : ['', '']),
        ...[fate.split('/')[0] ?? '', String(ones.length), fate.split('/')[1] ?? ''],
      ],
    ),
  );
}

/** In the order of their first members. */
function grouped(things: readonly Thing[], keyOf: (thing: Thing) => string): (readonly [string, Thing[]])[] {
  const keys = [...new Set(things.map(keyOf))];
  return keys.map((key) => [key, things.filter((thing) => keyOf(thing) === key)] as const);
}
