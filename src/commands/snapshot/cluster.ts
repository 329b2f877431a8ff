import { rm } from 'node:fs/promises';
import { isInvalid } from '../../api/policy/policy.ts';
import { parsePolicy } from '../../api/policy/policy-spec.ts';
import type { Codec } from '../../kube/codec/list.ts';
import { MalformedError } from '../../kube/codec/frames.ts';
import { listPages } from '../../kube/cache/list-watch.ts';
import { ApiError, type KubeTransport } from '../../kube/http/transport.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import { errorLine } from '../../runtime/errors.ts';
import { snapshotLists, type SnapshotList } from './kinds.ts';
import { ListFile } from './list-file.ts';
import { snapshotObject } from './objects.ts';
import type { JsonObject } from './pick.ts';
import { acceptJson } from '../../kube/http/media-types.ts';

interface ClusterPartDeps {
  readonly transport: KubeTransport;
  readonly clock: Clock;
  /** Where a file of this name goes. */
  readonly pathOf: (file: string) => string;
  /** One sentence. */
  readonly warn: (line: string) => void;
  readonly onProgress: (file: string, objects: number) => void;
  /** Told of every object that is written. */
  readonly onObject?: (object: JsonObject) => void;
}

/** How many objects of each file were written; a list that could not be read is not there. */
export type ClusterPart = ReadonlyMap<string, number>;

/**
 * Writes the lists of the cluster. A kind that may not be listed is left out with a warning: missing means not known. One of ours that is not
 * installed is an empty list that says so. Rejects for anything else.
 */
export async function writeClusterPart(deps: ClusterPartDeps, signal: AbortSignal): Promise<ClusterPart> {
  const written = new Map<string, number>();
  for (const list of snapshotLists) {
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
    if (list.optional === true && err instanceof ApiError && err.status === 404)
      return writeMissingKind(list, { ...deps, path });
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

function reasonToLeaveOut(err: unknown): string | undefined {
  if (!(err instanceof ApiError)) return undefined;
  if (err.status === 404) return 'the cluster does not have this kind';
  return err.status === 403 ? errorLine(err) : undefined;
}

/** A list that the server forgot on the way, as it does after five minutes, is begun again this often. */
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
  const { path, transport, clock, onProgress, onObject } = deps;
  const file = await ListFile.begin(path);
  const invalidOf = list.kind === 'GCPolicy' ? namesOfInvalid : () => [];
  const storedInvalid: unknown[] = [];
  try {
    const source = { transport: patient(transport), clock, random: Math.random, resource: resourceOf(list) };
    for await (const { items } of listPages({ ...source, pageSize: list.pageSize }, signal)) {
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

/** The names of those that nobody could apply today: what stands in a cluster shields there, and is no mistake of the snapshot (docs/adr/0011). */
const namesOfInvalid = (policies: readonly JsonObject[]): readonly string[] =>
  policies
    .map((policy) => parsePolicy(policy).policy)
    .flatMap((policy) => (isInvalid(policy) ? [policy.name] : []));

/** Of a busy server, or one that is just being replaced, a person asks again, too. */
const retries = 4;

const patient = (transport: KubeTransport): KubeTransport => ({
  send: (request, signal) => transport.send(request, signal),
  stream: (request, signal) => transport.stream({ retries, ...request }, signal),
});

function resourceOf(list: SnapshotList): Parameters<typeof listPages<JsonObject>>[0]['resource'] {
  const codec: Codec<JsonObject> = {
    fromProtobuf: () => {
      throw new MalformedError('protobuf in answer to a request for JSON');
    },
    fromJson: (json) => snapshotObject(list, json),
  };
  const { name, path } = list;
  return { name, path, query: {}, accept: acceptJson, optional: false, codec };
}
