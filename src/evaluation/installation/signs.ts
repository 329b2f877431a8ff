import { isFresh, staleMinutes } from '../../api/report/fresh.ts';
import { isHeld, type Workload } from './facts.ts';
import type { StatusFacts } from './trouble.ts';

/** What shows that dustpan works although its Deployment or its DaemonSet was not found: another installer may not label them, and the reader may not see them. */
export interface Signs {
  /** undefined = nothing shows it, or the Deployment was found. */
  readonly controller: string | undefined;
  readonly agents: string | undefined;
}

export function signsOf(
  { policies = [], reports = [], installation }: Pick<StatusFacts, 'policies' | 'reports' | 'installation'>,
  now: Date,
): Signs {
  const { controllers, agents, clusterLease } = installation;
  const hasController = controllers !== undefined && controllers.length > 0;
  const sign = hasController ? undefined : signOfController(clusterLease, policies, now);
  const controller = sign && `${notFound('Deployment', controllers)}, but ${sign}`;
  const reporting = reports.filter(({ status }) => isRecent(status?.reportTime, now)).length;
  const hasAgents = agents !== undefined && agents.length > 0;
  // Reports alone remain after an uninstallation.
  const isAlone = !hasController && controller === undefined;
  if (hasAgents || isAlone || reporting === 0) return { controller, agents: undefined };
  const nodes = reporting === 1 ? 'an agent has' : `agents of ${reporting} nodes have`;
  return {
    controller,
    agents: `${notFound('DaemonSet', agents)}, but ${nodes} reported in the last ${staleMinutes} minutes`,
  };
}

const notFound = (kind: Workload['kind'], listed: readonly Workload[] | undefined): string =>
  listed === undefined ? `the ${kind} of dustpan cannot be read` : `no ${kind} of dustpan was found`;

/** The Lease of the cluster, where there is one and it may be read: after an uninstallation the last passes are still recent. */
function signOfController(
  lease: StatusFacts['installation']['clusterLease'],
  policies: NonNullable<StatusFacts['policies']>,
  now: Date,
): string | undefined {
  if (typeof lease === 'object') return isHeld(lease) ? 'a controller holds the Lease' : undefined;
  return policies.some(({ status }) => isRecent(status?.lastPassTime, now))
    ? `a controller has ended a pass in the last ${staleMinutes} minutes`
    : undefined;
}

const isRecent = (time: string | undefined, now: Date): boolean =>
  time !== undefined && isFresh(Date.parse(time), now);
