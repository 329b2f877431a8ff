import { criRuntime } from './client.ts';
import { RuntimeError } from './runtime.ts';

/** Long enough for a busy runtime, short enough to try six sockets. */
const probeDeadlineMs = 3000;

/** Whether a CRI v1 runtime responds on the socket; rejects only when the signal aborts. */
export async function servesCri(socket: string, signal: AbortSignal): Promise<boolean> {
  const runtime = criRuntime({ socket, statusDeadlineMs: probeDeadlineMs });
  try {
    await runtime.version(signal);
    return true;
  } catch (err) {
    if (err instanceof RuntimeError) return false;
    throw err;
  } finally {
    runtime.close();
  }
}
