import type { NodePodFacts } from '../kube/cache/node-pods.ts';
import { emptyState, parseState, type AgentState } from '../node/disk/state-format.ts';
import { containersOf, imagesOf, mountedImagesOf, sandboxesOf, sandboxImageOf } from './crictl.ts';
import type { Field } from './field.ts';
import { findFile, namesIn, readWhole } from './files.ts';
import { InputError } from './input-error.ts';
import { logListingOf } from './log-listing.ts';
import { checkUsage, diskOf, usageOf } from './stats.ts';
import { inOrder, type NodePart } from './plan-facts.ts';

/** The folder of one node in a snapshot. */
interface NodeFolder {
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
export async function readNodeFolder(
  directory: string,
  { name, pods, needsUsage }: NodeFolderSource,
): Promise<NodeFolder> {
  const names = (await namesIn(directory)) ?? [];
  const read = async <T>(file: string, convert: (value: Field) => T): Promise<T | undefined> => {
    const path = findFile(directory, names, file);
    return path === undefined ? undefined : convert(await readWhole(path));
  };
  // No decision needs it; it is only validated.
  await read('imagefs', (content) => content.object());
  const { state, note } = await readState(directory, names);
  const ran = await read('containers', (content) => ({
    containers: containersOf(content),
    mounted: mountedImagesOf(content),
  }));
  const stats = await read('stats', (content) => {
    checkUsage(content);
    return { disk: diskOf(content), usage: needsUsage ? usageOf(content) : undefined };
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

async function readState(
  directory: string,
  names: readonly string[],
): Promise<{ readonly state: AgentState; readonly note?: string }> {
  const file = findFile(directory, names, 'state');
  if (file === undefined) return { state: emptyState };
  const whole = await readWhole(file);
  const parsed = parseState(JSON.stringify(whole.object()));
  if (parsed.kind === 'read') return { state: parsed.state };
  // The agent starts over with a state of a later version, and so does the plan; any other problem is bad input.
  if (whole.at('version').integer() > 1n)
    return { state: emptyState, note: `${file}: ${parsed.reason}; every image counts as first seen now` };
  throw stateError(file, parsed.reason);
}

function stateError(file: string, reason: string): InputError {
  const [, field = '', what = reason] = /^([^\s:]*(?:\[.*\])?[^\s:]*): (.*)$/.exec(reason) ?? [];
  return new InputError(file, field, what);
}
