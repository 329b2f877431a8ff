import { readFile } from 'node:fs/promises';

/** Logs every request once, after its response; with bodies only for access reviews. */
export const auditPolicy = JSON.stringify({
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    {
      level: 'RequestResponse',
      resources: [{ group: 'authorization.k8s.io', resources: ['subjectaccessreviews'] }],
    },
    { level: 'Metadata' },
  ],
});

/** The fields of an audit.k8s.io/v1 Event that tests read. */
export interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly requestReceivedTimestamp: string;
  /** The time of the response. */
  readonly stageTimestamp: string;
  readonly userAgent?: string;
  /** Only of a SubjectAccessReview. */
  readonly responseObject?: AccessReview;
}

/** The fields of a SubjectAccessReview that tests read. */
interface AccessReview {
  readonly spec?: {
    readonly user?: string;
    readonly resourceAttributes?: {
      readonly verb?: string;
      readonly group?: string;
      readonly resource?: string;
      readonly subresource?: string;
      readonly namespace?: string;
      readonly name?: string;
    };
  };
  readonly status?: { readonly allowed?: boolean };
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
