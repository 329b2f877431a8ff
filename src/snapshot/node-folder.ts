import type { ImageBytes, ImageSpace, StoredPull } from '../api/image-space.ts';
import { leftoverKinds, leftoverObstacles, type Leftover } from '../api/leftovers.ts';
import { unknownDevices } from '../api/file-system.ts';
import type { NodePodFacts } from '../kube/cache/node-pods.ts';
import type { LogEntry, LogListing } from '../node/logs/list.ts';
import type { CheckpointListing } from '../node/storage/checkpoints.ts';
import { orphanObstacles, type FoundOrphan, type OrphansFound } from '../node/storage/orphans-finder.ts';
import { knownPodUids, type KnownPods } from '../node/storage/orphans.ts';
import { impossibleOfNode } from '../node/kubelet/summary.ts';
import { emptyState, parseState, type AgentState } from '../node/disk/state-format.ts';
import { containersOf, imagesOf, mountedImagesOf, sandboxesOf, sandboxImageOf } from './crictl.ts';
import type { Field } from './field.ts';
import { nodeFiles, unreadNotes } from './file-names.ts';
import { findFile, namesIn, readWhole } from './files.ts';
import { InputError } from './input-error.ts';
import { checkUsage, devicesOf, diskOf, usageOf } from './stats.ts';
import { impossibleNote, inOrder, type NodePart } from './plan-facts.ts';

export interface NodeFolder {
  readonly part: NodePart;
  /** One sentence each. */
  readonly notes: readonly string[];
}

interface NodeFolderSource {
  readonly name: string;
  readonly pods: readonly NodePodFacts[] | undefined;
  /** Whether the local storage usage of pods is needed. */
  readonly needsUsage: boolean;
}

/** Reads one folder below `nodes/`; a missing file means "not known". */
export async function readNodeFolder(directory: string, source: NodeFolderSource): Promise<NodeFolder> {
  const names = (await namesIn(directory)) ?? [];
  const files = new Map<string, Field>();
  for (const file of nodeFiles) {
    const path = findFile(directory, names, file);
    if (path !== undefined) files.set(file, await readWhole(path));
  }
  const { part, notes } = nodeFolderOf(files, source);
  return { part, notes: [...notes, ...unreadNotes(directory, names, nodeFiles)] };
}

/** The files of such a folder in one JSON object, as `dustpan snapshot - --only-node` prints them. */
export function nodeFolderIn(content: Field, source: NodeFolderSource): NodeFolder {
  const files = nodeFiles.map((file) => [file, content.at(file)] as const);
  return nodeFolderOf(new Map(files.filter(([, value]) => !value.isAbsent)), source);
}

function nodeFolderOf(
  files: ReadonlyMap<string, Field>,
  { name, pods, needsUsage }: NodeFolderSource,
): NodeFolder {
  const read = <T>(file: string, convert: (value: Field) => T): T | undefined => {
    const content = files.get(file);
    return content === undefined ? undefined : convert(content);
  };
  // No decision needs it; it is only validated.
  read('imagefs', (content) => content.object());
  const { state, note } = stateOf(files.get('state'));
  const ran = read('containers', (content) => ({
    containers: containersOf(content),
    mounted: mountedImagesOf(content),
  }));
  const devices = read('devices', devicesOf) ?? unknownDevices;
  const stats = read('stats', (content) => {
    checkUsage(content);
    const usage = needsUsage ? usageOf(content, devices) : undefined;
    const impossible = usage?.impossible ?? impossibleOfNode(content.object()['node']);
    return { disk: diskOf(content), usage, notes: impossible.map((what) => impossibleNote(name, what)) };
  });
  const part: NodePart = {
    name,
    pods,
    state,
    containers: ran?.containers,
    mounted: ran?.mounted ?? [],
    images: read('images', imagesOf),
    space: read('imagespace', imageSpaceOf),
    sandboxImage: read('info', sandboxImageOf),
    sandboxes: read('sandboxes', sandboxesOf),
    disk: stats?.disk,
    usage: stats?.usage,
    leftovers: read('leftovers', leftoversOf),
    orphans: read('orphans', (content) => orphansOf(content, pods ?? [])),
    checkpoints: read('checkpoints', checkpointsOf),
    logs: logListingOf({ logs: files.get('logs'), listing: files.get('loglisting') }),
  };
  return { part: inOrder(part), notes: [...(note === undefined ? [] : [note]), ...(stats?.notes ?? [])] };
}

function stateOf(whole: Field | undefined): { readonly state: AgentState; readonly note?: string } {
  if (whole === undefined) return { state: emptyState };
  const parsed = parseState(JSON.stringify(whole.object()));
  if (parsed.kind === 'read') return { state: parsed.state };
  // The agent starts over with a state of a later version, and so does the plan; any other problem is bad input.
  if (whole.at('version').integer() > 1n)
    return {
      state: emptyState,
      note: `${whole.file}: ${parsed.reason}; every image counts as first observed now`,
    };
  throw stateError(whole.file, parsed.reason);
}

function stateError(file: string, reason: string): InputError {
  const [, field = '', what = reason] = /^([^\s:]*(?:\[.*\])?[^\s:]*): (.*)$/.exec(reason) ?? [];
  return new InputError(file, field, what);
}

interface LogFiles {
  /** `logs.json`: files and links. */
  readonly logs: Field | undefined;
  /** `loglisting.json` of `dustpan snapshot` (docs/adr/0011): the directories, and whether the listing is complete. */
  readonly listing: Field | undefined;
}

/** The logs as listed on the node; undefined = not known. Without `loglisting.json` the listing counts as complete, without empty directories. */
function logListingOf({ logs, listing }: LogFiles): LogListing | undefined {
  const entries = logs ?? presentOf(listing?.at('entries'));
  if (entries === undefined) return undefined;
  return {
    roots: { pods: '/var/log/pods', containers: '/var/log/containers' },
    entries: entries.list().map(logEntryOf),
    directories: (listing?.at('directories').list() ?? []).map((path) => path.absolutePath()),
    complete: listing === undefined || listing.at('complete').boolean(),
  };
}

const presentOf = (field: Field | undefined): Field | undefined =>
  field === undefined || field.isAbsent ? undefined : field;

function logEntryOf(one: Field): LogEntry {
  const target = one.at('target');
  return {
    path: one.at('path').absolutePath(),
    bytes: one.at('bytes').count(),
    mtimeMs: one.at('mtime').timeMs(),
    ...(!target.isAbsent && { target: target.name() }),
  };
}

/**
 * `orphans.json` of `dustpan snapshot` (docs/adr/0011): what pods have left on a node that the runtime does not know. The file was written before
 * the pods were listed, so what belongs to one of them is left out.
 */
function orphansOf(content: Field, pods: KnownPods['pods']): OrphansFound {
  const known = knownPodUids({ pods, sandboxes: [], containers: [] });
  const placeOf = (place: Field): readonly FoundOrphan[] | undefined =>
    place.isAbsent
      ? undefined
      : place
          .list()
          .map(orphanOf)
          .filter(({ podUid }) => !known.has(podUid));
  return {
    podDirectories: placeOf(content.at('podDirectories')),
    podCgroups: placeOf(content.at('podCgroups')),
    logDirectories: undefined,
  };
}

/** `checkpoints.json` of `dustpan snapshot` (docs/adr/0011). */
const checkpointsOf = (content: Field): CheckpointListing => ({
  files: content
    .at('files')
    .list()
    .map((one) => ({
      path: one.at('path').absolutePath(),
      isFile: one.at('isFile').boolean(),
      bytes: one.at('bytes').count(),
      writtenMs: one.at('written').timeMs(),
    })),
  complete: content.at('complete').boolean(),
  isReadOnly: content.at('isReadOnly').boolean(),
  isApart: content.at('isApart').boolean(),
});

function orphanOf(one: Field): FoundOrphan {
  const since = one.at('since');
  const volumeData = one.at('volumeData');
  return {
    path: one.at('path').absolutePath(),
    podUid: one.at('podUid').name(),
    sinceMs: since.isAbsent ? undefined : since.timeMs(),
    bytes: one.at('bytes').count(),
    obstacle: obstacleOf(one.at('obstacle')),
    volumeDataMs: volumeData.isAbsent ? undefined : volumeData.timeMs(),
    holders: one.at('holders').texts(),
  };
}

/** `leftovers.json` of `dustpan snapshot` (docs/adr/0011): what containerd keeps for nobody. */
const leftoversOf = (content: Field): readonly Leftover[] =>
  content.list().map((one) => ({
    kind: oneOf(one.at('kind'), leftoverKinds),
    id: one.at('id').name(),
    name: one.at('name').name(),
    holder: one.at('holder').name(),
    sinceMs: one.at('sinceMs').isAbsent ? undefined : one.at('sinceMs').count(),
    bytes: one.at('bytes').count(),
    isLowerBound: one.at('isLowerBound').boolean(),
    progress: optionalText(one.at('progress')),
    // An obstacle of a later version must not count as none.
    obstacle: one.at('obstacle').isAbsent ? undefined : oneOf(one.at('obstacle'), leftoverObstacles),
  }));

function oneOf<T extends string>(field: Field, values: readonly T[]): T {
  const known = values.find((one) => one === field.text());
  if (known === undefined) throw field.mustBe(`one of ${values.join(', ')}`);
  return known;
}

/** `imagespace.json` of `dustpan snapshot` (docs/adr/0011): which bytes the images share. */
function imageSpaceOf(content: Field): ImageSpace {
  const images = content
    .at('images')
    .list()
    .map((one) => ({
      id: one.at('id').name(),
      bytes: imageBytesOf(one),
      policy: optionalText(one.at('pinnedFor')),
      isSandbox: one.at('isSandbox').boolean(),
    }));
  const idAt = (place: Field): string => {
    const image = images[place.count()];
    if (image === undefined) throw place.mustBe(`the place of one of ${images.length} images`);
    return image.id;
  };
  return {
    images: new Map(images.map(({ id, bytes }) => [id, bytes])),
    ownPins: new Map(images.flatMap(({ id, policy }) => (policy === undefined ? [] : [[id, policy]]))),
    sandboxImages: new Set(images.flatMap(({ id, isSandbox }) => (isSandbox ? [id] : []))),
    shares: content
      .at('shares')
      .list()
      .map((share) => ({
        images: share.at('images').list().map(idAt),
        bytes: share.at('bytes').count(),
        heldBy: optionalText(share.at('heldBy')),
      })),
    pulls: content.at('pulls').isAbsent ? undefined : content.at('pulls').list().map(storedPullOf),
  };
}

const storedPullOf = (pull: Field): StoredPull => ({
  repositories: pull.at('repositories').texts(),
  digests: pull.at('digests').texts(),
  totalBytes: pull.at('totalBytes').count(),
  receivedBytes: pull.at('receivedBytes').count(),
  unpackedBytes: pull.at('unpackedBytes').count(),
  isReceiving: pull.at('isReceiving').boolean(),
});

const imageBytesOf = (one: Field): ImageBytes => ({
  unique: one.at('unique').count(),
  shared: one.at('shared').count(),
  packed: one.at('packed').count(),
  inexactBecause: optionalText(one.at('inexactBecause')),
});

const optionalText = (field: Field): string | undefined => (field.isAbsent ? undefined : field.name());

/** An obstacle of a later version must not count as none. */
const obstacleOf = (field: Field): FoundOrphan['obstacle'] =>
  field.isAbsent ? undefined : oneOf(field, orphanObstacles);
