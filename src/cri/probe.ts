import { criRuntime } from './client.ts';
import { RuntimeError } from './runtime.ts';

/** Long enough for a busy runtime, short enough to try six. */
const probeDeadlineMs = 3000;

/** True when a CRI v1 runtime answers on the socket now; rejects only when the signal aborts. */
export async function answersCri(socket: string, signal: AbortSignal): Promise<boolean> {
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
