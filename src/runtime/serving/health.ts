import { startHttpServer, type HttpReply, type ListeningServer } from './http-server.ts';
import type { Logger } from '../logging/logger.ts';

export interface Check {
  readonly name: string;
  /** Why it fails; undefined = it passes. */
  check(): string | undefined;
}

interface HealthOptions {
  readonly bindAddress: string;
  /** A failure restarts the process: must not depend on the API server or the container runtime. */
  readonly live: readonly Check[];
  /** A failure means that the process cannot work yet. */
  readonly ready: readonly Check[];
  readonly log: Logger;
}

const ping: Check = { name: 'ping', check: () => undefined };

interface Group {
  readonly checks: readonly Check[];
  readonly level: 'debug' | 'warn';
}

/** Serves `/healthz` and `/readyz`, with `?verbose` like Kubernetes' components. */
export function startHealthServer({
  bindAddress,
  live,
  ready,
  log,
}: HealthOptions): Promise<ListeningServer> {
  const groups = new Map<string, Group>([
    ['/healthz', { checks: [ping, ...live], level: 'warn' }],
    // A process starts unready; whatever fails later has a warning of its own.
    ['/readyz', { checks: [ping, ...ready], level: 'debug' }],
  ]);
  const handler = ({ pathname, searchParams }: URL): HttpReply => {
    const group = groups.get(pathname);
    if (group === undefined) return { status: 404, body: 'not found\n' };
    return replyOf(pathname.slice(1), group, { log, isVerbose: searchParams.has('verbose') });
  };
  return startHttpServer({ name: 'health probes', bindAddress, handler, log });
}

function replyOf(
  probe: string,
  { checks, level }: Group,
  { log, isVerbose }: { readonly log: Logger; readonly isVerbose: boolean },
): HttpReply {
  const outcomes = checks.map((check) => ({ name: check.name, reason: reasonOf(check) }));
  const failed = outcomes.filter(({ reason }) => reason !== undefined);
  for (const { name, reason } of failed) log[level]({ probe, check: name, reason }, 'health check failed');
  const lines = outcomes.map(({ name, reason }) =>
    reason === undefined ? `[+]${name} ok` : `[-]${name} failed: reason withheld`,
  );
  if (failed.length > 0) return { status: 500, body: [...lines, `${probe} check failed`, ''].join('\n') };
  return { status: 200, body: isVerbose ? [...lines, `${probe} check passed`, ''].join('\n') : 'ok' };
}

function reasonOf(check: Check): string | undefined {
  try {
    return check.check();
  } catch (err) {
    // A check that throws must not pass.
    return `check threw: ${String(err)}`;
  }
}
