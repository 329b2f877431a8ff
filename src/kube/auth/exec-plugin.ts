import { spawn } from 'node:child_process';
import { isObject } from '../../api/json.ts';
import type { Identity } from './credentials.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A credential of a plugin, and when it expires, in Unix milliseconds; Infinity = never. */
export interface PluginCredential {
  readonly token: string | undefined;
  readonly tls: Pick<Identity['tls'], 'cert' | 'key'>;
  readonly expiresAtMs: number;
}

/**
 * Runs the credential plugin of a kubeconfig (`exec` of a user). As with kubectl, its error output is ours, because it may ask a person to log in.
 * The signal ends it. client-node's own plugins have neither.
 */
export async function runPlugin(exec: Fields, signal: AbortSignal): Promise<PluginCredential> {
  const { command } = exec;
  if (typeof command !== 'string' || command === '') throw new Error('the plugin has no command');
  const output = await outputOf(command, exec, signal);
  const parsed = credentialIn(output);
  if (parsed === undefined) throw new Error(`the plugin ${command} returned no credential`);
  return parsed;
}

function outputOf(command: string, { args, env }: Fields, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, textsIn(args), {
      stdio: ['ignore', 'pipe', 'inherit'],
      signal,
      env: { ...process.env, ...Object.fromEntries(variablesIn(env)) },
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.on('error', (err) => {
      reject(signal.aborted ? (signal.reason as Error) : err);
    });
    child.on('close', (code, killedBy) => {
      if (code === 0) resolve(output);
      else reject(new Error(`the plugin ${command} failed with ${code ?? killedBy}`));
    });
  });
}

const textsIn = (args: unknown): string[] => (Array.isArray(args) ? args.map(String) : []);

const variablesIn = (env: unknown): [string, string][] =>
  Array.isArray(env)
    ? env.filter(isObject).map(({ name, value }): [string, string] => [String(name), String(value)])
    : [];

function credentialIn(output: string): PluginCredential | undefined {
  const { status } = objectIn(output);
  if (!isObject(status)) return undefined;
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status;
  const expiresAtMs = typeof expirationTimestamp === 'string' ? Date.parse(expirationTimestamp) : Infinity;
  return { token: textOf(token), tls: { cert: textOf(cert), key: textOf(key) }, expiresAtMs };
}

export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

function objectIn(output: string): Fields {
  try {
    const parsed: unknown = JSON.parse(output);
    return isObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}
