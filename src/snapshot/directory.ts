import { join } from 'node:path';
import { neededOwners, needsUsageOf, pinsWanted, podLabelKeys } from '../api/policy/matching.ts';
import type { LabelSelector } from '../api/policy/policy.ts';
import { wantedListOf } from '../api/wanted-images.ts';
import { removedObjectsResource, type RemovedObject } from '../kube/cache/removed-objects.ts';
import type { NodeFacts } from '../kube/cache/objects.ts';
import { formatRfc3339 } from '../runtime/text/rfc3339.ts';
import type { Field } from './field.ts';
import { clusterFiles, unreadNotes } from './file-names.ts';
import { findFile, isFolder, namesIn, readWhole, type OnProgress } from './files.ts';
import { InputError } from './input-error.ts';
import { kinds, readObjects, readPods } from './kube-objects.ts';
import { readNodeFolder } from './node-folder.ts';
import { proposedPolicies, readSnapshotPolicies, type GivenPolicies } from './policies.ts';
import { kindMissing, partText, reportedBy, type ByUid, type PlanFacts } from './plan-facts.ts';

interface SnapshotSource {
  readonly directory: string;
  readonly given: GivenPolicies;
  /** Its labels are read too; undefined = only those that policies need. */
  readonly selector: LabelSelector | undefined;
  readonly onProgress: OnProgress;
  /** A snapshot that was taken after it is refused; undefined = none is. */
  readonly now: Date | undefined;
}

/** Reads a snapshot directory; throws InputError for the first file that cannot be used. */
export async function readSnapshot(source: SnapshotSource): Promise<PlanFacts> {
  const { directory, given, selector, onProgress, now } = source;
  const names = await namesIn(directory);
  if (names === undefined) throw new InputError(directory, '', 'there is no such directory');
  checkIsSnapshot(directory, names);
  const find = (name: string): string | undefined => findFile(directory, names, name);
  const ifThere = async <T>(name: string, read: (file: string) => Promise<T>): Promise<T | undefined> => {
    const file = find(name);
    return file === undefined ? undefined : read(file);
  };
  const record = (await ifThere('snapshot', (file) => readRecord(file, now))) ?? noRecord;
  const { policies, replaced, openBreakers, inForce } = await policiesOf(find('policies'), given);
  const all = [...(policies ?? []), ...(replaced ?? [])];
  const nodes = await ifThere('nodes', (file) => readObjects(file, kinds.nodes, onProgress));
  const { folders, others } = await nodeFolders(join(directory, 'nodes'), nodes);
  const pods = await ifThere('pods', (file) =>
    readPods(file, { labelKeys: podLabelKeys(all, selector), nodes: folders }, onProgress),
  );
  const namespaces = await ifThere('namespaces', (file) => readObjects(file, kinds.namespaces, onProgress));
  const needsUsage = needsUsageOf(all);
  const podsOn = podsOnNodes(record, pods);
  const read = await Promise.all(
    folders.map((name) =>
      readNodeFolder(join(directory, 'nodes', name), { name, pods: podsOn(name), needsUsage }),
    ),
  );
  const reports = await ifThere('nodegcreports', (file) =>
    readObjects(file, kinds.nodegcreports, onProgress),
  );
  const jobs = await ifThere('jobs', (file) => readObjects(file, kinds.jobs, onProgress));
  const replicaSets = await ifThere('replicasets', (file) =>
    readObjects(file, kinds.replicasets, onProgress),
  );
  const lists = { policies, pods, nodes, namespaces, jobs, replicasets: replicaSets };
  // The report of a node that was read tells a plan nothing more.
  const nodegcreports = reports ?? (folders.length === nodes?.size ? [] : undefined);
  return {
    policies,
    replaced,
    openBreakers,
    inForce,
    nodes,
    pods: pods?.all,
    namespaces,
    jobs,
    replicaSets,
    wanted: await wantedOf(find('wantedimages'), all),
    moreNodes: 'take the snapshot on the node, with --cri-socket',
    parts: read.map(({ part }) => part),
    ...reportedBy(reports, folders),
    takenAt: record.takenAt,
    part: record.part,
    notes: [
      ...record.notes,
      ...absentNotes(directory, { ...lists, nodegcreports }, all),
      ...unreadNotes(directory, names, clusterFiles),
      ...unreadNotes(join(directory, 'nodes'), others, []),
      ...read.flatMap(({ notes }) => notes),
    ],
  };
}

async function wantedOf(
  file: string | undefined,
  policies: NonNullable<PlanFacts['policies']>,
): Promise<PlanFacts['wanted']> {
  if (file === undefined) return pinsWanted(policies) ? 'the snapshot has no wantedimages.json' : undefined;
  const content = await readWhole(file);
  const list = wantedListOf(content.object());
  if (list === undefined) throw content.wrong('is not the list that dustpan snapshot writes');
  return list;
}

/** Reads the objects that the agents of the nodes removed last, as the reports in a snapshot have them. */
export async function readRemovals(
  directory: string,
): Promise<readonly { readonly name: string; readonly removed: readonly RemovedObject[] }[]> {
  const file = findFile(directory, (await namesIn(directory)) ?? [], 'nodegcreports');
  if (file === undefined) return [];
  const kind = { ...kinds.nodegcreports, codec: () => removedObjectsResource(undefined).codec };
  return [...(await readObjects(file, kind, () => undefined)).values()];
}

/** What snapshot.json says, which only a snapshot of `dustpan snapshot` has. */
type SnapshotRecord = Pick<PlanFacts, 'takenAt' | 'part' | 'notes'>;

const noRecord: SnapshotRecord = { notes: [] };

/** The clocks of two machines may differ by this. */
const maxAheadMs = 600_000;

async function readRecord(file: string, now: Date | undefined): Promise<SnapshotRecord> {
  const record = await readWhole(file);
  const takenAt = timeIn(record.at('takenAt'), now);
  const [namespace, selector] = ['namespace', 'selector'].map(
    (name) => record.at(name).text('') || undefined,
  );
  const part = (namespace ?? selector) === undefined ? undefined : { namespace, selector };
  return {
    takenAt,
    part,
    notes:
      part === undefined
        ? []
        : [
            `The snapshot has only the pods${partText(part)}: thresholds count no others. The circuit breaker cannot count all missing nodes, so orphaned pods are kept.`,
          ],
  };
}

function timeIn(takenAt: Field, now: Date | undefined): Date | undefined {
  if (takenAt.isAbsent) return undefined;
  const time = new Date(takenAt.timeMs());
  if (now === undefined || time.getTime() <= now.getTime() + maxAheadMs) return time;
  const taken = formatRfc3339(time);
  throw takenAt.wrong(
    `${taken} is in the future, it is ${formatRfc3339(now)} here; correct the clock of this machine or the time in the file, or add --now`,
  );
}

/** The pods of a node; undefined = not known. A pod that a part leaves out must not count as gone, and still protects its images. */
const podsOnNodes =
  ({ part }: SnapshotRecord, pods: Awaited<ReturnType<typeof readPods>> | undefined) =>
  (node: string) =>
    part === undefined ? pods?.byNode.get(node) : undefined;

async function policiesOf(
  file: string | undefined,
  given: GivenPolicies,
): Promise<Pick<PlanFacts, 'policies' | 'replaced' | 'openBreakers' | 'inForce'>> {
  const stored = file === undefined ? undefined : await readSnapshotPolicies(file);
  if (given.files.length === 0) {
    if (stored?.isKindMissing === true) throw kindMissing();
    return { policies: undefined, ...stored };
  }
  const { policies: replaced = [], openBreakers, inForce } = stored ?? {};
  const policies = await proposedPolicies(given, replaced);
  return { policies, replaced, openBreakers, inForce };
}

/** Names the missing files that the policies need; other notes have the consequences. */
function absentNotes(
  directory: string,
  lists: Readonly<Record<string, unknown>>,
  policies: NonNullable<PlanFacts['policies']>,
): readonly string[] {
  const owners = neededOwners(policies);
  const isNeeded: Readonly<Record<string, boolean>> = {
    jobs: owners.jobs,
    replicasets: owners.replicaSets,
    nodegcreports: policies.some(({ nodes }) => nodes !== undefined),
  };
  const absent = Object.keys(lists).filter((name) => lists[name] === undefined && isNeeded[name] !== false);
  return absent.length === 0
    ? []
    : [`Snapshot ${directory} has no ${absent.map((name) => `${name}.json`).join(', ')}.`];
}

/** Every file may be missing, but a directory with only other files is a mistake. */
function checkIsSnapshot(directory: string, names: readonly string[]): void {
  const known = new Set(clusterFiles);
  if (names.length === 0 || names.some((name) => known.has(name.replace(/\.(json|yaml)$/, '')))) return;
  const nested = names.includes('snapshot') ? `, did you mean ${join(directory, 'snapshot')}?` : '';
  throw new InputError(directory, '', `is not a snapshot: it has no pods.json, nodes.json, …${nested}`);
}

interface NodesEntries {
  /** One for each node. */
  readonly folders: readonly string[];
  readonly others: readonly string[];
}

/** The names in the folder `nodes`; throws for a folder without a node in the list of nodes. */
async function nodeFolders(directory: string, nodes: ByUid<NodeFacts> | undefined): Promise<NodesEntries> {
  // No name of a node begins with a dot, but those of folders that a volume or a tool adds: `..data` of a mounted ConfigMap.
  const names = ((await namesIn(directory)) ?? []).filter((name) => !name.startsWith('.'));
  const isNode = await Promise.all(names.map((name) => isFolder(join(directory, name))));
  const folders = names.filter((_, index) => isNode[index]);
  const known = nodes && new Set([...nodes.values()].map(({ name }) => name));
  const unknown = folders.find((name) => known?.has(name) === false);
  if (unknown !== undefined)
    throw new InputError(join(directory, unknown), '', 'there is no node of this name in the list of nodes');
  return { folders, others: names.filter((_, index) => !isNode[index]) };
}
