import { unknownDevices } from '../api/file-system.ts';
import type { NodePodFacts } from '../kube/cache/node-pods.ts';
import { impossibleOfNode } from '../node/kubelet/summary.ts';
import { emptyState, parseState, type AgentState } from '../node/disk/state-format.ts';
import { containersOf, imagesOf, mountedImagesOf, sandboxesOf, sandboxImageOf } from './crictl.ts';
import type { Field } from './field.ts';
import { nodeFiles, unreadNotes } from './file-names.ts';
import { findFile, namesIn, readWhole } from './files.ts';
import { InputError } from './input-error.ts';
import { logListingOf } from './log-listing.ts';
import { orphansOf } from './orphans.ts';
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
    sandboxImage: read('info', sandboxImageOf),
    sandboxes: read('sandboxes', sandboxesOf),
    disk: stats?.disk,
    usage: stats?.usage,
    orphans: read('orphans', (content) => orphansOf(content, pods ?? [])),
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
