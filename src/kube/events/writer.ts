import { eventBody, eventNamespace, isBehind, seriesPatch } from './series.ts';
import type { Reporter, Series } from './series.ts';
import { isConflict, isNotFound } from '../http/transport.ts';
import type { KubeTransport } from '../http/transport.ts';

/** Updates the Event of a series with one request, or with two if the Event has expired. */
export class EventWriter {
  readonly #transport: KubeTransport;
  readonly #reporter: Reporter;

  constructor(transport: KubeTransport, reporter: Reporter) {
    this.#transport = transport;
    this.#reporter = reporter;
  }

  async write(series: Series, signal: AbortSignal): Promise<'create' | 'patch'> {
    if (series.sentCount > 0 && (await this.#patch(series, signal))) return 'patch';
    await this.#create(series, signal);
    return 'create';
  }

  /** Returns false if the Event no longer exists. */
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
      // No other series has this name: an earlier attempt succeeded, and only its response was lost.
      series.sentCount = 1;
      if (isBehind(series)) await this.#patch(series, signal);
    }
  }
}

const collection = ({ spec }: Series): string =>
  `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(eventNamespace(spec))}/events`;
