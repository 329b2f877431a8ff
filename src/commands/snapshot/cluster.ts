import { open, rm, type FileHandle } from 'node:fs/promises';
import { isInvalid } from '../../api/policy/policy.ts';
import { parsePolicy } from '../../api/policy/policy-spec.ts';
import { parseJson } from '../../kube/codec/json.ts';
import { inJson, namespacesResource } from '../../kube/cache/resources.ts';
import { listPages } from '../../kube/cache/list-watch.ts';
import { ApiError, isNotFound, type KubeTransport } from '../../kube/http/transport.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import { listObjects, retries, retrying } from '../../process/list-objects.ts';
import { noNamespace } from '../../evaluation/plan/filter.ts';
import { errorLine } from '../../runtime/errors.ts';
import { listsOf, type SnapshotList, type SnapshotPods } from './kinds.ts';
import { snapshotObject } from './objects.ts';
import type { JsonObject } from './pick.ts';

interface ClusterPartDeps {
  readonly pods: SnapshotPods;
  readonly transport: KubeTransport;
  readonly clock: Clock;
  readonly pathOf: (file: string) => string;
  /** One sentence. */
  readonly warn: (line: string) => void;
  readonly onProgress: (file: string, objects: number) => void;
  readonly onObject?: (object: JsonObject) => void;
}

/** The number of written objects by file; without the lists that could not be read. */
export type ClusterPart = ReadonlyMap<string, number>;

/**
 * Writes the lists of the cluster. A kind that may not be listed is left out with a warning: a missing file means "not known". A kind of dustpan
 * that is not installed becomes an empty list with a mark. Rejects for any other failure.
 */
export async function writeClusterPart(deps: ClusterPartDeps, signal: AbortSignal): Promise<ClusterPart> {
  const written = new Map<string, number>();
  for (const list of listsOf(deps.pods)) {
    const count = await writeIfAllowed(list, deps, signal);
    if (count !== undefined) written.set(list.name, count);
  }
  return written;
}

async function writeIfAllowed(
  list: SnapshotList,
  deps: ClusterPartDeps,
  signal: AbortSignal,
): Promise<number | undefined> {
  const path = deps.pathOf(`${list.name}.json`);
  try {
    return await writeList(list, { ...deps, path }, signal);
  } catch (err) {
    signal.throwIfAborted();
    const { namespace } = deps.pods;
    if (namespace !== undefined && list.isOne === true && isNotFound(err))
      throw noNamespace(namespace, await namespacesOf(deps, signal));
    if (list.optional === true && isNotFound(err)) return writeMissingKind(list, { ...deps, path });
    const reason = reasonToLeaveOut(err);
    if (reason === undefined) throw new Error(`listing ${list.resource}`, { cause: err });
    await rm(path, { force: true });
    deps.warn(`cannot list ${list.resource}: ${reason}; ${list.name}.json is left out`);
    return undefined;
  }
}

async function writeMissingKind(
  { name, resource }: SnapshotList,
  { path, warn }: WriteDeps,
): Promise<number> {
  const file = await ListFile.begin(path);
  try {
    await file.end({ kindMissing: true });
  } finally {
    await file.close();
  }
  warn(`the cluster does not have ${resource}: ${name}.json is empty`);
  return 0;
}

/** The names of all namespaces, for a message; none where they may not be listed. */
async function namespacesOf(deps: ClusterPartDeps, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const namespaces = await listObjects(
      { transport: deps.transport, resource: namespacesResource() },
      signal,
    );
    return namespaces.map(({ name }) => name);
  } catch (err) {
    if (err instanceof ApiError) return [];
    throw err;
  }
}

function reasonToLeaveOut(err: unknown): string | undefined {
  if (!(err instanceof ApiError)) return undefined;
  if (err.status === 404) return 'the cluster does not have this kind';
  return err.status === 403 ? errorLine(err) : undefined;
}

/** A list is started again when its continue token has expired, by default after five minutes. */
const maxAttempts = 3;

type WriteDeps = ClusterPartDeps & { readonly path: string };

async function writeList(list: SnapshotList, deps: WriteDeps, signal: AbortSignal): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await writeOnce(list, deps, signal);
    } catch (err) {
      if (!(err instanceof ApiError && err.status === 410) || attempt === maxAttempts) throw err;
    }
  }
}

async function writeOnce(list: SnapshotList, deps: WriteDeps, signal: AbortSignal): Promise<number> {
  const { path, onProgress, onObject } = deps;
  const file = await ListFile.begin(path);
  const invalidOf = list.kind === 'GCPolicy' ? namesOfInvalid : () => [];
  const storedInvalid: unknown[] = [];
  try {
    for await (const items of itemsOf(list, deps, signal)) {
      await file.add(items);
      for (const item of items) onObject?.(item);
      storedInvalid.push(...invalidOf(items));
      onProgress(`${list.name}.json`, file.count);
    }
    await file.end(storedInvalid.length === 0 ? {} : { storedInvalid });
    return file.count;
  } finally {
    await file.close();
  }
}

async function* itemsOf(
  list: SnapshotList,
  { transport, clock }: WriteDeps,
  signal: AbortSignal,
): AsyncGenerator<readonly JsonObject[]> {
  if (list.isOne === true) {
    const { body } = await transport.send({ method: 'GET', path: list.path, retries }, signal);
    yield [snapshotObject(list, parseJson(body))];
    return;
  }
  const source = { transport: retrying(transport), clock, random: Math.random, resource: resourceOf(list) };
  for await (const { items } of listPages({ ...source, pageSize: list.pageSize }, signal)) yield items;
}

/** Names of stored policies that today's validation refuses: in the cluster they block all deletions they might govern (docs/adr/0011). */
const namesOfInvalid = (policies: readonly JsonObject[]): readonly string[] =>
  policies.map(parsePolicy).flatMap((policy) => (isInvalid(policy) ? [policy.name] : []));

/** Not optional: a kind that is not installed differs from one without objects. */
const resourceOf = (list: SnapshotList): Parameters<typeof listPages<JsonObject>>[0]['resource'] => ({
  ...inJson(list, (json) => snapshotObject(list, json)),
  optional: false,
});

/** A List as `kubectl get -o json` prints it, written page by page, one object per line. */
class ListFile {
  readonly #file: FileHandle;
  #count = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async begin(path: string): Promise<ListFile> {
    const list = new ListFile(await open(path, 'w', 0o600));
    await list.#write('{"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":""},"items":[');
    return list;
  }

  get count(): number {
    return this.#count;
  }

  async add(objects: readonly JsonObject[]): Promise<void> {
    const lines = objects.map(
      (object, i) => `${this.#count + i === 0 ? '' : ','}\n${JSON.stringify(object)}`,
    );
    this.#count += objects.length;
    await this.#write(lines.join(''));
  }

  /** Completes the list, with these additional fields. */
  async end(fields: JsonObject = {}): Promise<void> {
    const more = Object.entries(fields).map(
      ([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`,
    );
    await this.#write(`\n]${more.join('')}}\n`);
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #write(text: string): Promise<void> {
    await this.#file.writeFile(text);
  }
}
