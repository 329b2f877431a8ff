import { agentUser } from '../cluster/agent/agent.ts';
import type { AuditEvent } from '../cluster/servers/audit.ts';
import type { Cluster } from '../cluster/servers/cluster.ts';

/** How often the agent asked for what since then, by `verb resource`; a watch counts when it is opened. */
export async function requestsSince(
  cluster: Pick<Cluster, 'audit'>,
  since: Date,
): Promise<ReadonlyMap<string, number>> {
  const events = await cluster.audit({ user: agentUser.name, since });
  const counts = new Map<string, number>();
  for (const event of events.filter(isCounted)) {
    const name = nameOf(event);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** A watch has two lines, at its start and at its end; anything else has one. */
const isCounted = ({ verb, stage }: AuditEvent): boolean =>
  stage === (verb === 'watch' ? 'ResponseStarted' : 'ResponseComplete');

function nameOf({ verb, objectRef, requestURI }: AuditEvent): string {
  const { resource = requestURI, subresource } = objectRef ?? {};
  return `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`;
}
