import type { GCPolicy } from '../../api/gen/gcpolicy.gen.ts';
import type { NodeGCReport } from '../../api/gen/nodegcreport.gen.ts';
import type { RawFacts } from '../../kube/cache/objects.ts';
import { jsonResource, policiesResource, reportsPath, type Resource } from '../../kube/cache/resources.ts';
import { ApiError, type KubeTransport } from '../../kube/http/transport.ts';
import type { PersonConnection } from '../cli/connection.ts';
import { exitCode } from '../cli/exit.ts';
import { listObjects } from '../cli/list-objects.ts';
import { showLive } from '../cli/live.ts';
import type { OutputFormat } from '../cli/output.ts';
import { statusTable } from './table.ts';
import { statusView } from './view.ts';
import type { System } from '../cli/system.ts';

export interface StatusConfig {
  readonly kube: PersonConnection;
  readonly watch: boolean;
  readonly output: OutputFormat;
  readonly colours: boolean;
  readonly hasExitCode: boolean;
}

/** Shows the status once, or after each change until SIGINT; resolves with the exit code. */
export async function runStatus(config: StatusConfig, system: System): Promise<number> {
  const { colours, hasExitCode } = config;
  const view = await showLive(
    {
      read: ({ transport }, signal) => readStatus(transport, signal),
      viewOf: ({ policies, reports }, now) => statusView(policies, reports, now),
      linesOf: (shown, { now, width = 80 }) => statusTable(shown, { now, width, colours }),
      warningOf: ({ warning }) => warning,
    },
    config,
    system,
  );
  const hasTrouble = view !== undefined && view.trouble.length > 0;
  return hasExitCode && hasTrouble ? exitCode.found : exitCode.ok;
}

interface Status {
  readonly policies: readonly GCPolicy[];
  /** undefined = they could not be read. */
  readonly reports: readonly NodeGCReport[] | undefined;
  readonly warning?: string;
}

const resources = {
  policies: policiesResource(),
  reports: jsonResource({ name: 'nodegcreports', path: reportsPath }),
};

/** Rejects when the policies cannot be read; reports that may not be read are left out with a warning. */
async function readStatus(transport: KubeTransport, signal: AbortSignal): Promise<Status> {
  const list = async (resource: Resource<RawFacts>): Promise<readonly RawFacts['object'][]> => {
    // A report may have 50 KB, and a whole page is held in memory.
    const items = await listObjects({ transport, resource, pageSize: 100 }, signal);
    return items.map(({ object }) => object);
  };
  const policies = await list(resources.policies).catch((cause: unknown) => {
    if (cause instanceof ApiError && cause.status === 404)
      throw new Error('the kind GCPolicy is not installed in the cluster: is dustpan?');
    throw new Error('listing gcpolicies', { cause });
  });
  try {
    return { policies: policies.filter(isPolicy), reports: (await list(resources.reports)).filter(isReport) };
  } catch (err) {
    if (!(err instanceof ApiError && (err.status === 403 || err.status === 404))) throw err;
    const why = err.status === 404 ? 'the kind NodeGCReport is not installed in the cluster' : err.message;
    return {
      policies: policies.filter(isPolicy),
      reports: undefined,
      warning: `cannot list nodegcreports: ${why}`,
    };
  }
}

// The API server has validated them against the very schemas that the types are made from.
const isPolicy = (object: RawFacts['object']): object is RawFacts['object'] & GCPolicy =>
  typeof object['metadata'] === 'object';
const isReport = (object: RawFacts['object']): object is RawFacts['object'] & NodeGCReport =>
  typeof object['metadata'] === 'object';
