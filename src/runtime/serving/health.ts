import { startHttpServer, type HttpReply, type ListeningServer } from './http-server.ts';
import type { Logger } from '../logging/logger.ts';
import { printable } from '../text/printable.ts';

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

/** Serves `/healthz` and `/readyz` like Kubernetes' components: `?verbose`, `?exclude=name`, `/healthz/<name>`. */
export function startHealthServer({
  bindAddress,
  live,
  ready,
  log,
}: HealthOptions): Promise<ListeningServer> {
  const groups = new Map<string, Group>([
    ['healthz', { checks: [ping, ...live], level: 'warn' }],
    // A process starts unready; whatever fails later has a warning of its own.
    ['readyz', { checks: [ping, ...ready], level: 'debug' }],
  ]);
  const handler = (url: URL) => healthReply(groups, url, log);
  return startHttpServer({ name: 'health probes', bindAddress, handler, log });
}

function healthReply(groups: ReadonlyMap<string, Group>, url: URL, log: Logger): HttpReply {
  const [, title = '', name = '', ...rest] = url.pathname.split('/');
  const group = groups.get(title);
  const checks = group?.checks.filter((check) => name === '' || check.name === name) ?? [];
  if (!group || checks.length === 0 || rest.length > 0) return { status: 404, body: 'not found\n' };
  const probe = name === '' ? title : `${title}/${name}`;
  return report(probe, { ...group, checks, query: url.searchParams }, log);
}

function report(
  title: string,
  { checks, level, query }: Group & { query: URLSearchParams },
  log: Logger,
): HttpReply {
  const excluded = new Set(query.getAll('exclude'));
  const outcomes = checks.map((check) => (excluded.delete(check.name) ? excludedOutcome(check) : run(check)));
  const failed = outcomes.filter((outcome) => outcome.reason !== undefined);
  for (const { name, reason } of failed)
    log[level]({ probe: title, check: name, reason }, 'health check failed');
  const lines = [...outcomes.map((outcome) => outcome.line), ...unknownExcludes(excluded)];
  if (failed.length > 0) return { status: 500, body: [...lines, `${title} check failed`, ''].join('\n') };
  if (!query.has('verbose')) return { status: 200, body: 'ok' };
  return { status: 200, body: [...lines, `${title} check passed`, ''].join('\n') };
}

interface Outcome {
  readonly name: string;
  readonly reason: string | undefined;
  readonly line: string;
}

const excludedOutcome = ({ name }: Check): Outcome => ({
  name,
  reason: undefined,
  line: `[+]${name} excluded: ok`,
});

function run(check: Check): Outcome {
  const { name } = check;
  const reason = reasonOf(check);
  return {
    name,
    reason,
    line: reason === undefined ? `[+]${name} ok` : `[-]${name} failed: reason withheld`,
  };
}

function reasonOf(check: Check): string | undefined {
  try {
    return check.check();
  } catch (err) {
    // A check that throws must not pass.
    return `check threw: ${String(err)}`;
  }
}

function unknownExcludes(names: ReadonlySet<string>): string[] {
  if (names.size === 0) return [];
  const list = [...names].map((name) => JSON.stringify(name)).join(', ');
  return [`warn: some health checks cannot be excluded: no matches for ${printable(list)}`];
}
