import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { dustpanUser } from '../cluster/controller/dustpan.ts';
import type { DustpanProcess } from '../cluster/servers/dustpan-process.ts';
import type { Observation } from './observer.ts';
import type { Stage } from './stage.ts';

/** Reads the lines that a log has received since the last call. */
export class LogTail {
  readonly #file: string;
  #offset = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** Without an incomplete last line. */
  read(): readonly string[] {
    let descriptor: number;
    try {
      descriptor = openSync(this.#file, 'r');
    } catch {
      return []; // the process has not started yet
    }
    try {
      const data = Buffer.alloc(Math.max(0, fstatSync(descriptor).size - this.#offset));
      const length = readSync(descriptor, data, 0, data.length, this.#offset);
      const end = data.subarray(0, length).lastIndexOf('\n') + 1;
      this.#offset += end;
      return data.subarray(0, end).toString().split('\n').slice(0, -1);
    } finally {
      closeSync(descriptor);
    }
  }
}

/** An object whose removal a component has logged. */
export interface Claim {
  readonly by: 'dustpan' | 'kubelet';
  readonly kind: 'image' | 'container' | 'sandbox' | 'pod' | 'other';
  /** ID of the runtime, or the pod's name. */
  readonly id: string;
  readonly atMs: number;
  /** Tags of the image, or the pod's name. */
  readonly names: readonly string[];
}

/** One line of dustpan's log. */
export interface DustpanLine {
  readonly ts: string;
  readonly level: string;
  readonly msg: string;
  readonly err?: string;
  readonly image?: string;
  readonly names?: readonly string[];
  readonly container?: string;
  readonly sandbox?: string;
  readonly path?: string;
  readonly pod?: { readonly name?: string };
}

/** Returns the line's fields; undefined if it is not a log line of dustpan, such as one of Node itself. */
export function parseDustpanLine(text: string): DustpanLine | undefined {
  try {
    return JSON.parse(text) as DustpanLine;
  } catch {
    return undefined;
  }
}

/** The beginning of the names of the series that count the removals. */
const series = {
  podgc: 'dustpan_removed_objects_total{unit="podgc"',
  evictions: 'dustpan_evictions_total',
  imagegc: 'dustpan_image_garbage_collected_total',
  containergc: 'dustpan_removed_objects_total{unit="containergc"',
} as const;

/** The removals that dustpan's log reports, by message. */
const dustpanRemovals: Readonly<Record<string, readonly [Claim['kind'], string]>> = {
  'deleted pod': ['pod', series.podgc],
  'evicted pod': ['pod', series.evictions],
  'removed image': ['image', series.imagegc],
  'removed container': ['container', series.containergc],
  'removed sandbox': ['sandbox', series.containergc],
  'removed log directory': ['other', series.containergc],
  'removed log link': ['other', series.containergc],
  'removed log file': ['other', series.containergc],
  'removed orphaned control group': ['other', series.containergc],
  'removed orphaned pod directory': ['other', series.containergc],
};

/** The removal that a line of dustpan's log reports. */
export function claimOf({ ts, msg, ...fields }: DustpanLine): Claim | undefined {
  const kind = dustpanRemovals[msg]?.[0];
  if (kind === undefined) return undefined;
  const { pod: { name: pod = '' } = {}, path: other = '', image = '', container = '', sandbox = '' } = fields;
  const id = { pod, image, container, sandbox, other }[kind];
  return { by: 'dustpan', kind, id, atMs: Date.parse(ts), names: fields.names ?? [pod] };
}

const kubeletRemovals = [
  { kind: 'image', form: /"Removing image to free bytes" imageID="([^"]+)"/ },
  { kind: 'container', form: /"Removing container" containerID="([^"]+)"/ },
  { kind: 'sandbox', form: /"Removing sandbox" sandboxID="([^"]+)"/ },
] as const;

/** The removal that a line of the kubelet's log reports; its times have no year. */
export function kubeletClaimOf(line: string, year: number): Claim | undefined {
  for (const { kind, form } of kubeletRemovals) {
    const id = form.exec(line)?.[1];
    if (id !== undefined) return { by: 'kubelet', kind, id, atMs: kubeletTimeMs(line, year), names: [] };
  }
  return undefined;
}

/**
 * What the kubelet also logs where it is alone: the object had gone between its list and its request, its first passes had no statistics, or
 * the statistics of the disk are older than the last removal.
 */
const harmless =
  /code = NotFound|no such file or directory|already in removing state|Stats initialization may not have completed yet|invalid capacity 0|Insufficient free disk space/;

/** Whether a line of the kubelet's log reports a removal that failed, and not because somebody was faster. */
export function isFailedRemoval(line: string): boolean {
  const isFailure = line.startsWith('E') && /"failed to remove|garbage collection failed/i.test(line);
  return isFailure && !harmless.test(line);
}

/** `I1123 16:20:01.123456 …`, in local time. */
function kubeletTimeMs(line: string, year: number): number {
  const [, month, day, time] = /^[IWEF](\d\d)(\d\d) (\d\d:\d\d:\d\d\.\d+)/.exec(line) ?? [];
  return Date.parse(`${year}-${month ?? ''}-${day ?? ''}T${time ?? ''}`);
}

type Kind = 'image' | 'container';

/** An object that an observation had and a later one had not. */
interface Vanished {
  readonly kind: Kind;
  readonly id: string;
  readonly name: string;
  readonly lastSeenMs: number;
  readonly missedMs: number;
  /** The first later observation that has it again: it was pulled once more. */
  returnedMs?: number;
}

interface Seen {
  readonly name: string;
  readonly atMs: number;
  /** The first observation without it. */
  readonly missedMs?: number;
}

/** The runtime confirms a removal to everyone who requests it while the object exists, and only after its own garbage collection, which takes seconds on a busy machine. */
const confirmationMs = 10_000;
/** Log lines and observations of one removal. */
const lagMs = 10_000;

/** Compares the objects that vanished with the removals that dustpan and the kubelet claim. */
export class Ledger {
  readonly #seen: Readonly<Record<Kind, Map<string, Seen>>> = {
    image: new Map(),
    container: new Map(),
  };
  readonly #vanished: Vanished[] = [];
  readonly #claims: Claim[] = [];

  add(claim: Claim): void {
    this.#claims.push(claim);
  }

  see({ atMs, images, containers }: Observation): void {
    const named = containers?.map(({ id, pod, name }) => ({ id, name: `${name} of pod ${pod}` }));
    if (named) this.#seeKind('container', atMs, named);
    if (images)
      this.#seeKind(
        'image',
        atMs,
        images.map(({ id, tags }) => ({ id, name: tags[0] ?? id })),
      );
  }

  #seeKind(
    kind: Kind,
    atMs: number,
    objects: readonly { readonly id: string; readonly name: string }[],
  ): void {
    const seen = this.#seen[kind];
    const present = new Set(objects.map(({ id }) => id));
    for (const [id, { name, atMs: lastSeenMs, missedMs }] of seen) {
      if (present.has(id)) continue;
      // An import that replaces a tag hides its image from one list.
      if (kind === 'image' && missedMs === undefined) {
        seen.set(id, { name, atMs: lastSeenMs, missedMs: atMs });
        continue;
      }
      seen.delete(id);
      this.#vanished.push({ kind, id, name, lastSeenMs, missedMs: missedMs ?? atMs });
    }
    for (const { id, name } of objects) {
      const last = seen.has(id) ? undefined : this.#vanished.findLast((one) => one.id === id);
      if (last) last.returnedMs ??= atMs;
      seen.set(id, { name, atMs });
    }
  }

  /** How many removals of this kind a component claims. */
  count(by: Claim['by'], kind: Claim['kind']): number {
    return this.#claims.filter((claim) => claim.by === by && claim.kind === kind).length;
  }

  /** Containers that dustpan claims to have removed and that an observation shows which began later. */
  falseClaims(): readonly string[] {
    const wasSeenAfter = ({ id, atMs }: Claim): boolean => (this.#seen.container.get(id)?.atMs ?? 0) > atMs;
    return this.#claims
      .filter((claim) => claim.by === 'dustpan' && claim.kind === 'container' && wasSeenAfter(claim))
      .map(({ id }) => `dustpan logged the removal of container ${id}, which exists`);
  }

  /** Objects that nobody claims to have removed, and those that dustpan counts although the kubelet had removed them. */
  open(): readonly string[] {
    return this.#vanished.flatMap((one) => {
      const claims = this.#claimsOf(one);
      const text = `${one.kind} ${one.id} (${one.name})`;
      if (claims.length === 0) return [`${text} vanished, and nobody logged its removal`];
      const isTheirs = claims.some(({ by }) => by === 'kubelet');
      const isLate =
        isTheirs && claims.some(({ by, atMs }) => by === 'dustpan' && atMs > one.missedMs + confirmationMs);
      return isLate ? [`dustpan counted the removal of ${text}, which the kubelet had removed`] : [];
    });
  }

  #claimsOf({ kind, id, lastSeenMs, missedMs, returnedMs = Infinity }: Vanished): readonly Claim[] {
    return this.#claims.filter(
      (claim) =>
        claim.kind === kind &&
        claim.id === id &&
        claim.atMs > lastSeenMs - lagMs &&
        claim.atMs < Math.min(missedMs + confirmationMs + lagMs, returnedMs),
    );
  }
}

/** Compares the metrics of dustpan's processes with the lines that they have logged since their start. */
export async function countsDiffer(stage: Stage): Promise<readonly string[]> {
  const found = await Promise.all(
    Object.values(series).map(async (one) => {
      const component = one === series.podgc || one === series.evictions ? 'controller' : 'agent';
      const process = stage.processes.get(component);
      if (process === undefined) return [`the ${component} does not run`];
      // A removal between the two reads counts for the second only.
      const before = await sumOf(process, one);
      const lines = (await process.logs()).filter(({ msg }) => dustpanRemovals[msg]?.[1] === one).length;
      const after = await sumOf(process, one);
      return lines < before || lines > after
        ? [`${one} is ${after}, and the ${component} logged ${lines} such removals`]
        : [];
    }),
  );
  return found.flat();
}

async function sumOf(process: DustpanProcess, metric: string): Promise<number> {
  const found = [...(await process.metrics())].filter(([name]) => name.startsWith(metric));
  return found.reduce((sum, [, value]) => sum + value, 0);
}

/** Compares the successful deletions and evictions of the controller in the audit log with those that it has logged; only a run without faults has them all. */
export async function deletionsDiffer({ cluster }: Stage, logged: number): Promise<readonly string[]> {
  const requests = await cluster.audit({ user: dustpanUser.name });
  const successful = requests.filter(
    ({ verb, objectRef, responseStatus }) =>
      objectRef?.resource === 'pods' &&
      (verb === 'delete' || (verb === 'create' && objectRef.subresource === 'eviction')) &&
      (responseStatus?.code ?? 0) < 300,
  ).length;
  return successful === logged
    ? []
    : [
        `the API server granted the controller ${successful} deletions and evictions of pods, and the controller logged ${logged}`,
      ];
}
