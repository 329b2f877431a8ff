import { parseJson, statusFromJson } from '../codec/json.ts';
import { errorOf } from '../http/response-error.ts';

/** The result of a command in a container. */
export interface ExecResult {
  readonly exitCode: number;
  readonly stdout: Buffer;
  /** The first bytes of it, as text. */
  readonly stderr: string;
}

/** More than the images, containers and logs of any node need. */
const maxOutputBytes = 64 * 1024 * 1024;
const maxErrorBytes = 64 * 1024;

/** The channels of the protocol: the first byte of each message (k8s.io/apimachinery, remotecommand/constants.go). */
const channels = { stdout: 1, stderr: 2, error: 3 } as const;

/** Collects the messages of one session. */
export class ExecSession {
  readonly #maxBytes: number;
  readonly #stdout: Buffer[] = [];
  readonly #stderr: Buffer[] = [];
  #outputBytes = 0;
  #errorBytes = 0;
  #status: Buffer | undefined;

  constructor(maxBytes = maxOutputBytes) {
    this.#maxBytes = maxBytes;
  }

  /** Throws when the output is longer than the limit. */
  add(message: Buffer): void {
    const content = message.subarray(1);
    const [channel] = message;
    if (channel === channels.stdout) this.#addOutput(content);
    if (channel === channels.stderr) {
      this.#stderr.push(content.subarray(0, Math.max(0, maxErrorBytes - this.#errorBytes)));
      this.#errorBytes += content.length;
    }
    if (channel === channels.error) this.#status = content;
  }

  #addOutput(content: Buffer): void {
    this.#outputBytes += content.length;
    if (this.#outputBytes > this.#maxBytes)
      throw new Error(`the output is longer than ${this.#maxBytes} bytes`);
    this.#stdout.push(content);
  }

  /** The result after the last message; throws if the command did not run to its end. */
  result(): ExecResult {
    if (this.#status === undefined)
      throw new Error('the connection ended before the command; its pod may have been stopped');
    return {
      exitCode: exitCodeOf(this.#status),
      stdout: Buffer.concat(this.#stdout),
      stderr: Buffer.concat(this.#stderr).toString('utf8').trim(),
    };
  }
}

/** Throws the server's error if there is no exit code, for example because there is no such program. */
function exitCodeOf(content: Buffer): number {
  const json = parseJson(content);
  const status = statusFromJson(json);
  if (status.status === 'Success') return 0;
  const { causes, explanations, message } = errorOf(status);
  const code = Number(explanations[causes.indexOf('ExitCode')]);
  if (Number.isInteger(code) && code > 0) return code;
  throw new Error(message);
}
