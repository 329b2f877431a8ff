import type { GCPolicy } from '../../api/gen/gcpolicy.gen.ts';
import { parsePolicy } from '../../api/policy/policy-spec.ts';
import type { NodeGCReport } from '../../api/gen/nodegcreport.gen.ts';
import type { RawFacts } from '../../kube/cache/objects.ts';
import { jsonResource, policiesResource, reportsPath, type Resource } from '../../kube/cache/resources.ts';
import { isForbidden, isNotFound } from '../../kube/http/transport.ts';
import type { Connected } from '../../process/connect.ts';
import type { PersonConnection } from '../../process/connection.ts';
import { exitCode, problemLine } from '../../process/exit.ts';
import { listObjects } from '../../process/list-objects.ts';
import { showLive } from '../cli/live.ts';
import { asTable, isTemplate, type ListFormat } from '../../process/output.ts';
import { readInstallation } from '../../evaluation/installation/read.ts';
import { nodeNames, nodeRows, statusTable } from './table.ts';
import type { StatusFacts, Trouble } from '../../evaluation/installation/trouble.ts';
import { statusView, type StatusView } from './view.ts';
import type { System } from '../../process/system.ts';

export interface StatusConfig {
  readonly kube: PersonConnection;
  readonly watch: boolean;
  readonly output: ListFormat;
  readonly headers: boolean;
  readonly colours: boolean;
  readonly hasExitCode: boolean;
  readonly onlyInstallation: boolean;
}

/** Shows the status once, or after each change until SIGINT; resolves with the exit code. */
export async function runStatus(config: StatusConfig, system: System): Promise<number> {
  const { output, headers, colours, hasExitCode, onlyInstallation } = config;
  const view = await showLive(
    {
      read: async (cluster, signal) => await readStatus(cluster, onlyInstallation, signal),
      viewOf: statusView,
      linesOf: (shown, { now, width }) => {
        if (output === 'name') return nodeNames(shown);
        const screen = { now, width, colours, isWide: output === 'wide' };
        return headers ? statusTable(shown, screen) : nodeRows(shown, screen).slice(1);
      },
    },
    { ...config, output: asTable(output) },
    system,
  );
  // The table has it.
  if (view !== undefined && view.unread.length > 0 && (output === 'name' || isTemplate(output) || !headers))
    system.stderr(problemLine(`warning: you may not read: ${view.unread.join(', ')}`));
  const isFine = view === undefined || (isKnown(view, onlyInstallation) && view.trouble.every(isPassing));
  return hasExitCode && !isFine ? exitCode.found : exitCode.ok;
}

const isKnown = ({ verdict, policies }: StatusView, onlyInstallation: boolean): boolean =>
  verdict !== 'Unknown' && (onlyInstallation || policies !== null);

/** An Event does not show that its problem has ended, and pods that a policy selects may come later. */
const isPassing = ({ kind, reason }: Trouble): boolean => kind === 'Blocked' || reason === 'SelectsNothing';

const resources = {
  policies: policiesResource(),
  reports: jsonResource({ name: 'nodegcreports', path: reportsPath }),
};

async function readStatus(
  cluster: Connected,
  onlyInstallation: boolean,
  signal: AbortSignal,
): Promise<StatusFacts> {
  const unread: string[] = [];
  const list = async (resource: Resource<RawFacts>): Promise<readonly RawFacts['object'][] | undefined> => {
    if (onlyInstallation) return undefined;
    try {
      // A report may have 50 KB, and a whole page is held in memory.
      const items = await listObjects({ transport: cluster.transport, resource, pageSize: 100 }, signal);
      return items.map(({ object }) => object);
    } catch (err) {
      // The installation has the missing kind.
      if (isNotFound(err)) return [];
      if (!isForbidden(err)) throw new Error(`listing ${resource.name}`, { cause: err });
      unread.push(resource.name);
      return undefined;
    }
  };
  const policies = (await list(resources.policies))?.filter(isPolicy);
  const needed = { withBlocked: !onlyInstallation, policies: policies?.map(parsePolicy) ?? [] };
  const [reports, installation] = await Promise.all([
    list(resources.reports),
    readInstallation(cluster, needed, signal),
  ]);
  return {
    nodes: onlyInstallation ? undefined : installation.nodes,
    policies,
    reports: reports?.filter(isReport),
    installation: { ...installation, unread: [...unread, ...installation.unread] },
  };
}

// The API server has validated them against the very schemas that the types are made from.
const isPolicy = (object: RawFacts['object']): object is RawFacts['object'] & GCPolicy =>
  typeof object['metadata'] === 'object';
const isReport = (object: RawFacts['object']): object is RawFacts['object'] & NodeGCReport =>
  typeof object['metadata'] === 'object';
