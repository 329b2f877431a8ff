import { bodyOf, describe, headersOf, targetOf, type Attempt, type Exchange } from './http-attempt.ts';
import { plainBody } from './http-body.ts';
import { Guard } from './http-guard.ts';
import type { LeanConnections } from './http-lean-connections.ts';

/**
 * Sends one request and waits for the whole answer, with two thirds of the CPU that takes by node:http: for the one request of which there are thousands
 * (ADR 20).
 */
export async function leanExchange(
  attempt: Attempt,
  connections: LeanConnections,
  signal: AbortSignal,
): Promise<Exchange> {
  signal.throwIfAborted();
  const message = messageOf(attempt);
  const connection = connections.take();
  const guard = new Guard(attempt, signal, connection);
  try {
    const { status, headers, body } = await connection.exchange(message, describe(attempt.request));
    const answer = { status, headers, body: body.length === 0 ? body : await plainBody({ headers }, body) };
    return { status, whole: () => Promise.resolve(answer) };
  } catch (err) {
    throw guard.explain(err, connection.isStale);
  } finally {
    guard.stop();
    connection.release();
  }
}

/** The whole request as text; what would make two of it, as node:http does, is refused. */
function messageOf(attempt: Attempt): string {
  const body = bodyOf(attempt.request);
  const target = targetOf(attempt);
  if (!/^[\x21-\x7e]+$/.test(target)) throw new TypeError('the path of a request has unescaped characters');
  let head = `${attempt.request.method} ${target} HTTP/1.1\r\n`;
  const fields = headersOf(attempt, body);
  for (let i = 0; i < fields.length; i += 2) head += headerLine(fields[i] ?? '', fields[i + 1] ?? '');
  return `${head}\r\n${body ?? ''}`;
}

/** Without the value in its message: that may be a token. */
function headerLine(name: string, value: string): string {
  if (!/^[\x20-\x7e]*$/.test(value))
    throw new TypeError(`header ${name} has characters that it cannot carry`);
  return `${name}: ${value}\r\n`;
}
