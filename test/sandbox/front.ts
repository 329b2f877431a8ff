import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { parseBody, readBytes } from './body.ts';
import { discovery } from './discovery.ts';
import { dispatch, type Answer } from './dispatch.ts';
import { contentType, encodeList, encodeObject, encodeStatus, type Form, type Page } from './encode.ts';
import { Failure, PageNotFound } from './failure.ts';
import { FaultPlan, type Fault, type RequestPredicate } from './faults.ts';
import { negotiate, negotiateError, type Media } from './media.ts';
import { asObject } from './json.ts';
import { Reply, type Disturbance } from './reply.ts';
import { attributesOf, requestInfo, type RequestInfo } from './request-info.ts';
import { RequestLog, type SandboxRequest } from './request-log.ts';
import { isReview, review } from './reviews.ts';
import { authenticate, authorize, type SandboxUser } from './users.ts';
import { Watch } from './watch.ts';
import type { World } from './world.ts';

interface FrontOptions {
  readonly users: readonly SandboxUser[];
  readonly bookmarkIntervalMs: number;
}

/** A request on its way through the server. */
interface Exchange {
  readonly incoming: IncomingMessage;
  readonly reply: Reply;
  readonly url: URL;
  readonly accept: string;
  readonly request: SandboxRequest;
  readonly answered: (status: number) => void;
}

/** From HTTP to the objects and back: who, whether, what, and in which form. */
export class Front {
  readonly plan = new FaultPlan();
  readonly log = new RequestLog();
  readonly #world: World;
  readonly #options: FrontOptions;
  readonly #watches = new Map<Watch, SandboxRequest>();

  constructor(world: World, options: FrontOptions) {
    this.#world = world;
    this.#options = options;
  }

  /** Never rejects: what goes wrong is an answer. */
  async handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', 'http://sandbox');
    const { method = 'GET', headers } = incoming;
    const accept = headers.accept ?? '';
    const user = this.#userOf(headers.authorization);
    const logged = { method, path: url.pathname, query: url.searchParams, user: nameOf(user), accept };
    const { request, answered } = this.log.add(logged);
    const fault = this.plan.take(request);
    const reply = new Reply(response, disturbanceOf(fault));
    const exchange: Exchange = { incoming, reply, url, accept, request, answered };
    try {
      await suffer(fault);
      if (user instanceof Failure) throw user;
      authorize(user, attributesOf(method, url));
      await this.#serve(exchange);
    } catch (err) {
      sendError(exchange, err);
    }
  }

  closeWatches(matches: RequestPredicate = () => true): void {
    for (const [watch, request] of this.#watches) if (matches(request)) watch.close();
  }

  expireWatches(): void {
    this.#world.store.compact();
    for (const watch of this.#watches.keys()) watch.expire();
  }

  #userOf(authorization: string | undefined): SandboxUser | Failure {
    try {
      return authenticate(this.#options.users, authorization);
    } catch (err) {
      if (err instanceof Failure) return err;
      throw err;
    }
  }

  async #serve(exchange: Exchange): Promise<void> {
    const { incoming, url } = exchange;
    const method = incoming.method ?? 'GET';
    if (method === 'GET' && sendPlain(exchange, this.#world)) return;
    if (method === 'POST' && isReview(url.pathname)) {
      await this.#review(exchange);
      return;
    }
    const info = requestInfo(method, url, this.#world.registry);
    const form = formOf(info, exchange.accept);
    if (info.verb === 'watch') {
      await this.#watch(exchange, info, form);
      return;
    }
    const bytes = await readBytes(incoming);
    const body = parseBody(method, incoming.headers['content-type'] ?? '', bytes);
    await sendAnswer(exchange, dispatch(this.#world, info, body), form);
  }

  async #review(exchange: Exchange): Promise<void> {
    const { incoming, url } = exchange;
    const body = parseBody('POST', incoming.headers['content-type'] ?? '', await readBytes(incoming));
    const asking = { users: this.#options.users, asker: exchange.request.user };
    const answer = review(asking, url.pathname, asObject(body?.content));
    send(exchange, 201, { type: contentType('json'), body: Buffer.from(JSON.stringify(answer)) });
  }

  async #watch({ reply, request, answered }: Exchange, info: RequestInfo, form: Form): Promise<void> {
    const { bookmarkIntervalMs } = this.#options;
    const watch = new Watch(this.#world, info, { form, bookmarkIntervalMs });
    this.#watches.set(watch, request);
    reply.onClose(() => this.#watches.delete(watch));
    answered(200);
    await watch.run(reply);
  }
}

const nameOf = (user: SandboxUser | Failure): string => (user instanceof Failure ? '' : user.name);

function disturbanceOf(fault: Fault | undefined): Disturbance {
  if (fault?.kind === 'cut') return { cutAfterBytes: fault.afterBytes };
  return fault?.kind === 'slow' ? { pauseMs: fault.pauseMs } : {};
}

/** Throws for a fault that is an answer of its own. */
async function suffer(fault: Fault | undefined): Promise<void> {
  if (fault?.kind === 'delay') await delay(fault.ms);
  // The connection is closed by the client, or when the server stops.
  if (fault?.kind === 'hang') await new Promise<never>(() => undefined);
  if (fault?.kind === 'status') throw faultStatus(fault);
}

function faultStatus({
  status,
  reason,
  message,
  retryAfterSeconds,
}: Extract<Fault, { kind: 'status' }>): Failure {
  return new Failure(message ?? `sandbox fault: ${status}`, {
    code: status,
    reason: reason ?? defaultReasons[status] ?? 'InternalError',
    ...(retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } }),
  });
}

const defaultReasons: Readonly<Record<number, string>> = {
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  429: 'TooManyRequests',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

function formOf(info: RequestInfo, accept: string): Form {
  const { resource, verb } = info;
  const list = verb === 'list' || verb === 'deletecollection';
  const media: Media = negotiate(accept, { binary: resource.binary !== undefined, list });
  return { resource, media };
}

/** Health, version and discovery. */
function sendPlain(exchange: Exchange, world: World): boolean {
  const { pathname } = exchange.url;
  if (['/healthz', '/livez', '/readyz'].includes(pathname)) {
    send(exchange, 200, { type: 'text/plain; charset=utf-8', body: Buffer.from('ok') });
    return true;
  }
  const found = pathname === '/version' ? version : discovery(pathname, world.registry);
  if (found !== undefined)
    send(exchange, 200, { type: contentType('json'), body: encodeStatus(found, 'json') });
  return found !== undefined;
}

const version = { major: '1', minor: '36', gitVersion: 'v1.36.0-sandbox', platform: 'sandbox' };

async function sendAnswer(exchange: Exchange, answer: Answer, form: Form): Promise<void> {
  if (answer.kind === 'list') await sendList(exchange, answer.page, form);
  else send(exchange, answer.code, { type: contentType(form.media.encoding), body: bodyOf(answer, form) });
}

const bodyOf = (answer: Exclude<Answer, { kind: 'list' }>, form: Form): Uint8Array =>
  answer.kind === 'object'
    ? encodeObject(answer.object, form)
    : encodeStatus(answer.status, form.media.encoding);

async function sendList({ reply, answered }: Exchange, page: Page, form: Form): Promise<void> {
  answered(200);
  reply.head(200, { 'content-type': contentType(form.media.encoding) });
  for (const piece of encodeList(page, form)) {
    reply.write(piece);
    await reply.drained();
  }
  reply.end();
}

interface Whole {
  readonly type: string;
  readonly body: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

function send({ reply, answered }: Exchange, code: number, { type, body, headers }: Whole): void {
  answered(code);
  reply.head(code, { 'content-type': type, 'content-length': body.length, ...headers });
  reply.write(body);
  reply.end();
}

function sendError(exchange: Exchange, err: unknown): void {
  // The body may not have been read; what is left of it must not be taken for the next request.
  exchange.incoming.resume();
  if (err instanceof PageNotFound) {
    const page = { type: 'text/plain; charset=utf-8', body: Buffer.from('404 page not found\n') };
    send(exchange, 404, page);
    return;
  }
  const failure =
    err instanceof Failure ? err : new Failure(String(err), { code: 500, reason: 'InternalError' });
  const encoding =
    failure.code === 406 && failure.message.startsWith('406') ? 'json' : negotiateError(exchange.accept);
  const headers = retryAfter(failure);
  send(exchange, failure.code, {
    type: contentType(encoding),
    body: encodeStatus(failure.status, encoding),
    headers,
  });
}

function retryAfter({ status }: Failure): Readonly<Record<string, string>> {
  const details = status['details'] as { readonly retryAfterSeconds?: number } | undefined;
  const seconds = details?.retryAfterSeconds;
  return seconds === undefined ? {} : { 'retry-after': String(seconds) };
}
