import {
  ApiError,
  type KubeRequest,
  type KubeResponse,
  type KubeTransport,
} from '../../src/kube/http/transport.ts';

interface FakeAnswers {
  /** The response: a Buffer unchanged, an Error thrown, anything else as JSON. */
  readonly send?: (request: KubeRequest, signal: AbortSignal) => unknown;
  readonly headers?: KubeResponse['headers'];
  /** The chunks of a streamed response. */
  readonly stream?: (
    request: KubeRequest,
    signal: AbortSignal,
  ) => Iterable<string | Buffer> | AsyncIterable<string | Buffer>;
}

export const refusal = (status: number, reason: string): ApiError => new ApiError(reason, { status, reason });

/** Responds by functions and remembers the requests. */
export class FakeTransport implements KubeTransport {
  readonly requests: KubeRequest[] = [];
  readonly #answers: FakeAnswers;

  constructor(answers: FakeAnswers) {
    this.#answers = answers;
  }

  async send(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse> {
    signal.throwIfAborted();
    this.requests.push(request);
    const answer = await this.#answers.send?.(request, signal);
    signal.throwIfAborted();
    if (answer instanceof Error) throw answer;
    const body = Buffer.isBuffer(answer) ? answer : Buffer.from(JSON.stringify(answer ?? {}));
    return { status: 200, headers: this.#answers.headers ?? {}, body };
  }

  async *stream(request: KubeRequest, signal: AbortSignal): AsyncGenerator<Buffer> {
    signal.throwIfAborted();
    this.requests.push(request);
    for await (const chunk of this.#answers.stream?.(request, signal) ?? []) {
      signal.throwIfAborted();
      yield Buffer.from(chunk);
    }
  }
}
