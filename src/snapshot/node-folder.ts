import type { NodePodFacts } from '../kube/cache/node-pods.ts';
import { emptyState, parseState, type AgentState } from '../node/disk/state-format.ts';
import { containersOf, imagesOf, mountedImagesOf, sandboxesOf, sandboxImageOf } from './crictl.ts';
import type { Field } from './field.ts';
import { findFile, namesIn, readWhole } from './files.ts';
import { InputError } from './input-error.ts';
import { logListingOf } from './log-listing.ts';
import { checkUsage, diskOf, usageOf } from './stats.ts';
import { inOrder, type NodePart } from './world.ts';

/** A node's own folder of a snapshot, with what is remarkable about it. */
interface NodeFolder {
  readonly part: NodePart;
  readonly notes: readonly string[];
}

interface NodeFolderSource {
  readonly name: string;
  readonly pods: readonly NodePodFacts[] | undefined;
  /** Somebody wants to know what pods use. */
  readonly needsUsage: boolean;
}

/** Reads one folder below `nodes/`; what has no file is not known. */
export async function readNodeFolder(
  directory: string,
  { name, pods, needsUsage }: NodeFolderSource,
): Promise<NodeFolder> {
  const names = (await namesIn(directory)) ?? [];
  const read = async <T>(file: string, convert: (value: Field) => T): Promise<T | undefined> => {
    const path = findFile(directory, names, file);
    return path === undefined ? undefined : convert(await readWhole(path));
  };
  // Nothing is decided from it; it is only looked through, so that a broken one does not go unnoticed.
  await read('imagefs', (answer) => answer.object());
  const { state, note } = await readState(directory, names);
  const ran = await read('containers', (answer) => ({
    containers: containersOf(answer),
    mounted: mountedImagesOf(answer),
  }));
  const stats = await read('stats', (answer) => {
    checkUsage(answer);
    return { disk: diskOf(answer), usage: needsUsage ? usageOf(answer) : undefined };
  });
  const part: NodePart = {
    ...{ name, pods, state, containers: ran?.containers, mounted: ran?.mounted ?? [] },
    images: await read('images', imagesOf),
    sandboxImage: await read('info', sandboxImageOf),
    sandboxes: await read('sandboxes', sandboxesOf),
    disk: stats?.disk,
    usage: stats?.usage,
    logs: logListingOf({
      logs: await read('logs', (value) => value),
      listing: await read('loglisting', (value) => value),
    }),
  };
  return { part: inOrder(part), notes: note === undefined ? [] : [note] };
}

interface ReadState {
  readonly state: AgentState;
  readonly note?: string;
}

async function readState(directory: string, names: readonly string[]): Promise<ReadState> {
  const file = findFile(directory, names, 'state');
  if (file === undefined) return { state: emptyState };
  const whole = await readWhole(file);
  const parsed = parseState(JSON.stringify(whole.object()));
  if (parsed.kind === 'read') return { state: parsed.state };
  // The agent would start over, and so does the plan; anything else that is wrong with it is a broken file.
  if (whole.at('version').integer() > 1n)
    return { state: emptyState, note: `${file}: ${parsed.reason}; every image counts as first seen now` };
  throw stateError(file, parsed.reason);
}

function stateError(file: string, reason: string): InputError {
  const [, field = '', what = reason] = /^([^\s:]*(?:\[.*\])?[^\s:]*): (.*)$/.exec(reason) ?? [];
  return new InputError(file, field, what);
}
