import { isObject } from '../../api/json.ts';
import { parseInForce, type InForce } from '../../gc/hold.ts';
import { parseRfc3339 } from '../../runtime/text/rfc3339.ts';

/** History of one image. Times are Unix milliseconds. */
export interface ImageRecord {
  readonly firstDetectedMs: number;
  /** undefined = never seen in use. */
  readonly lastUsedMs: number | undefined;
}

/** An image that dustpan removed, as the state file records it. */
export interface RemovedImage {
  /** Its id or one of its repository digests. */
  readonly digest: string;
  readonly atMs: number;
  /** undefined = an older agent recorded the removal. */
  readonly what?: {
    /** A tag, else a digest; undefined = it had none. */
    readonly name: string | undefined;
    readonly reason: string;
    /** The policy that governed the node. */
    readonly policy: string;
  };
}

/** State that the agent keeps between passes and over restarts. */
export interface AgentState {
  readonly images: ReadonlyMap<string, ImageRecord>;
  readonly removed: readonly RemovedImage[];
  /** The rules in mode Enforce that govern the images; undefined = none were applied yet. */
  readonly inForce?: InForce | undefined;
  /** What the images that pods wait for take on the disk, by reference, as far as a pull has shown it. */
  readonly pullBytes?: ReadonlyMap<string, number>;
}

export const emptyState: AgentState = { images: new Map(), removed: [] };

export type ParsedState<S = AgentState> =
  { readonly kind: 'read'; readonly state: S } | { readonly kind: 'startOver'; readonly reason: string };

/** How a state is written to a file; `parse` never throws. */
export interface StateFormat<S> {
  readonly parse: (text: string) => ParsedState<S>;
  readonly format: (state: S) => string;
}

const currentVersion = 1;

/** Reads the text of a state file. Any deviation from the format means starting over. Never throws. */
export function parseState(text: string): ParsedState {
  const json = parseJson(text);
  if (!isObject(json)) return startOver('is not a JSON object');
  const { version, images, removed, inForce, pullBytes } = json;
  if (typeof version !== 'number' || !Number.isInteger(version))
    return startOver('version: must be an integer');
  if (version !== currentVersion)
    return startOver(`version: is ${version}, this dustpan reads ${currentVersion}`);
  try {
    // An unreadable one counts as missing: then a hold begins anew.
    const known = parseInForce(inForce);
    const pulls = readPullBytes(pullBytes);
    const state = {
      images: readImages(images),
      removed: readRemoved(removed),
      ...(pulls.size > 0 && { pullBytes: pulls }),
    };
    return { kind: 'read', state: known === undefined ? state : { ...state, inForce: known } };
  } catch (err) {
    return startOver(err instanceof Error ? err.message : String(err));
  }
}

const startOver = (reason: string): ParsedState => ({ kind: 'startOver', reason });

export function formatState({ images, removed, inForce, pullBytes = new Map() }: AgentState): string {
  const entries = [...images].map(([id, { firstDetectedMs, lastUsedMs }]) => [
    id,
    {
      firstDetected: timeText(firstDetectedMs),
      lastUsed: lastUsedMs === undefined ? null : timeText(lastUsedMs),
    },
  ]);
  return `${JSON.stringify({
    version: currentVersion,
    images: Object.fromEntries(entries) as unknown,
    removed: removed.map(({ digest, atMs, what }) => ({ digest, at: timeText(atMs), ...what })),
    inForce,
    pullBytes: pullBytes.size === 0 ? undefined : Object.fromEntries(pullBytes),
  })}\n`;
}

export const agentState: StateFormat<AgentState> = { parse: parseState, format: formatState };

const timeText = (ms: number): string => new Date(ms).toISOString();

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readImages(raw: unknown): ReadonlyMap<string, ImageRecord> {
  if (!isObject(raw)) throw new Error('images: must be an object');
  return new Map(Object.entries(raw).map(([id, record]) => [id, readRecord(record, `images[${id}]`)]));
}

function readRecord(raw: unknown, path: string): ImageRecord {
  if (!isObject(raw)) throw new Error(`${path}: must be an object`);
  const { firstDetected, lastUsed } = raw;
  return {
    firstDetectedMs: readTime(firstDetected, `${path}.firstDetected`),
    lastUsedMs:
      lastUsed === null || lastUsed === undefined ? undefined : readTime(lastUsed, `${path}.lastUsed`),
  };
}

function readRemoved(raw: unknown): readonly RemovedImage[] {
  if (raw === undefined) return [];
  if (!Array.isArray(raw)) throw new Error('removed: must be a list');
  return raw.map((entry: unknown, i) => {
    const path = `removed[${i}]`;
    if (!isObject(entry) || typeof entry['digest'] !== 'string')
      throw new Error(`${path}.digest: must be a text`);
    const what = readWhat(entry);
    return { digest: entry['digest'], atMs: readTime(entry['at'], `${path}.at`), ...(what && { what }) };
  });
}

/** An incomplete one counts as missing: it explains a removal and decides nothing. */
function readWhat({ name, reason, policy }: Readonly<Record<string, unknown>>): RemovedImage['what'] {
  if (typeof reason !== 'string' || typeof policy !== 'string') return undefined;
  return { name: typeof name === 'string' ? name : undefined, reason, policy };
}

/** What is unreadable counts as missing: the size is then unknown. */
const readPullBytes = (raw: unknown): ReadonlyMap<string, number> =>
  new Map(
    Object.entries(isObject(raw) ? raw : {}).flatMap(([reference, bytes]) =>
      typeof bytes === 'number' && bytes >= 0 ? [[reference, bytes] as const] : [],
    ),
  );

function readTime(raw: unknown, path: string): number {
  const ms = typeof raw === 'string' ? parseRfc3339(raw) : undefined;
  if (ms === undefined) throw new Error(`${path}: must be an RFC 3339 time`);
  return ms;
}
