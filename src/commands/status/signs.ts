import { isFresh, staleMinutes } from '../../api/report/fresh.ts';
import { isHeld } from '../installation/facts.ts';
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
  const { controllers = [], agents = [], clusterLease } = installation;
  const controller = controllers.length > 0 ? undefined : signOfController(clusterLease, policies, now);
  const reporting = reports.filter(({ status }) => isRecent(status?.reportTime, now)).length;
  const isAlone = agents.length > 0 || (controllers.length === 0 && controller === undefined);
  // Reports alone remain after an uninstallation.
  if (isAlone || reporting === 0) return { controller, agents: undefined };
  const nodes = reporting === 1 ? 'an agent has' : `agents of ${reporting} nodes have`;
  return {
    controller,
    agents: `no DaemonSet of dustpan was found, but ${nodes} reported in the last ${staleMinutes} minutes`,
  };
}

/** The Lease of the cluster, where there is one and it may be read: after an uninstallation the last passes are still recent. */
function signOfController(
  lease: StatusFacts['installation']['clusterLease'],
  policies: NonNullable<StatusFacts['policies']>,
  now: Date,
): string | undefined {
  const found = 'no Deployment of dustpan was found, but a controller';
  if (typeof lease === 'object') return isHeld(lease) ? `${found} holds the Lease` : undefined;
  return policies.some(({ status }) => isRecent(status?.lastPassTime, now))
    ? `${found} has ended a pass in the last ${staleMinutes} minutes`
    : undefined;
}

const isRecent = (time: string | undefined, now: Date): boolean =>
  time !== undefined && isFresh(Date.parse(time), now);
