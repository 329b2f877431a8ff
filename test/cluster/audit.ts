import { readFile } from 'node:fs/promises';

/** Every request once, when it has been answered, without bodies. */
export const auditPolicy = JSON.stringify({
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata' }],
});

/** The part of an audit.k8s.io/v1 Event that tests ask about. */
export interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly requestReceivedTimestamp: string;
  readonly userAgent?: string;
}

export interface AuditFilter {
  readonly user?: string;
  readonly verb?: string;
  readonly since?: Date;
}

/** The requests that match every given field; a watch appears when it starts and again when it ends. */
export async function auditEvents(file: string, filter: AuditFilter): Promise<readonly AuditEvent[]> {
  const lines = (await readFile(file, 'utf8')).split('\n');
  // The last line may be half written.
  const events = lines.slice(0, -1).map((line) => JSON.parse(line) as AuditEvent);
  return events.filter((event) => matches(event, filter));
}

function matches(event: AuditEvent, { user, verb, since }: AuditFilter): boolean {
  if (user !== undefined && event.user.username !== user) return false;
  if (verb !== undefined && event.verb !== verb) return false;
  return since === undefined || new Date(event.requestReceivedTimestamp) >= since;
}
