import { eventBody, eventNamespace, isBehind, seriesPatch } from './series.ts';
import type { Reporter, Series } from './series.ts';
import { ApiError, isConflict, isNotFound } from '../http/transport.ts';
import type { KubeTransport } from '../http/transport.ts';

/** Brings the server's Event of a series up to date with one request, two when the Event has expired meanwhile. */
export class EventWriter {
  readonly #transport: KubeTransport;
  readonly #reporter: Reporter;

  constructor(transport: KubeTransport, reporter: Reporter) {
    this.#transport = transport;
    this.#reporter = reporter;
  }

  async write(series: Series, signal: AbortSignal): Promise<'create' | 'patch'> {
    if (series.sentCount > 0) {
      if (await this.#patch(series, signal)) return 'patch';
      series.sentCount = 0;
    }
    await this.#create(series, signal);
    return 'create';
  }

  /** False when there is no such Event any more. */
  async #patch(series: Series, signal: AbortSignal): Promise<boolean> {
    const { count } = series;
    const path = `${collection(series)}/${series.name}`;
    const contentType = 'application/merge-patch+json';
    try {
      await this.#transport.send({ method: 'PATCH', path, contentType, body: seriesPatch(series) }, signal);
      series.sentCount = count;
      return true;
    } catch (err) {
      if (isNotFound(err)) return false;
      throw err;
    }
  }

  async #create(series: Series, signal: AbortSignal): Promise<void> {
    const { count } = series;
    try {
      const body = eventBody(series, this.#reporter);
      await this.#transport.send({ method: 'POST', path: collection(series), body }, signal);
      series.sentCount = count;
    } catch (err) {
      if (!isConflict(err)) throw err;
      // The name is this series' alone: an earlier try got through and only its answer was lost.
      series.sentCount = 1;
      if (isBehind(series)) await this.#patch(series, signal);
    }
  }
}

/** True for a failure that may be over in a while; any other answer of the server is final. */
export const isPassing = (err: unknown): boolean =>
  !(err instanceof ApiError) || err.status === 429 || err.status >= 500;

const collection = ({ spec }: Series): string =>
  `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(eventNamespace(spec))}/events`;
