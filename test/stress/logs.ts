import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

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

/** An object that a component says it removed. */
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

interface Removal {
  readonly kind: Claim['kind'];
  readonly by: 'agent' | 'controller';
  /** The beginning of the names of the series that count it. */
  readonly series: string;
}

const image: Removal = { kind: 'image', by: 'agent', series: 'dustpan_image_garbage_collected_total' };
const deleted: Removal = {
  kind: 'pod',
  by: 'controller',
  series: 'dustpan_removed_objects_total{unit="podgc"',
};
const evicted: Removal = { kind: 'pod', by: 'controller', series: 'dustpan_evictions_total' };
const ofContainerGc = (kind: Claim['kind']): Removal => ({
  kind,
  by: 'agent',
  series: 'dustpan_removed_objects_total{unit="containergc"',
});

/** The removals that dustpan's log reports, by message. */
export const dustpanRemovals: Readonly<Record<string, Removal>> = {
  'deleted pod': deleted,
  'evicted pod': evicted,
  'removed image': image,
  'removed container': ofContainerGc('container'),
  'removed sandbox': ofContainerGc('sandbox'),
  'removed log directory': ofContainerGc('other'),
  'removed log link': ofContainerGc('other'),
  'removed log file': ofContainerGc('other'),
  'removed orphaned control group': ofContainerGc('other'),
  'removed orphaned pod directory': ofContainerGc('other'),
};

/** The removal that a line of dustpan's log reports. */
export function claimOf({ ts, msg, ...fields }: DustpanLine): Claim | undefined {
  const kind = dustpanRemovals[msg]?.kind;
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
