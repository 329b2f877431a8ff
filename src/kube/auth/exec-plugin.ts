import { spawn } from 'node:child_process';
import { isObject } from '../../api/json.ts';
import { asList, asObject, asObjects, asText, textOf, type JsonObject } from '../codec/json.ts';
import type { Identity } from './credentials.ts';

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
export async function runPlugin(exec: JsonObject, signal: AbortSignal): Promise<PluginCredential> {
  const command = asText(exec['command']);
  if (command === '') throw new Error('the plugin has no command');
  const credential = credentialIn(await outputOf(command, exec, signal));
  if (credential === undefined) throw new Error(`the plugin ${command} returned no credential`);
  return credential;
}

function outputOf(
  command: string,
  { args, env, apiVersion }: JsonObject,
  signal: AbortSignal,
): Promise<string> {
  // The version of the credential to return, as with kubectl.
  const info = { kind: 'ExecCredential', apiVersion, spec: { interactive: false } };
  const variables = asObjects(env).map(({ name, value }) => [String(name), String(value)] as const);
  return new Promise((resolve, reject) => {
    const child = spawn(command, asList(args).map(String), {
      stdio: ['ignore', 'pipe', 'inherit'],
      signal,
      env: {
        ...process.env,
        KUBERNETES_EXEC_INFO: JSON.stringify(info),
        ...Object.fromEntries(variables),
      },
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.on('error', (err) => reject(signal.aborted ? (signal.reason as Error) : err));
    child.on('close', (code, killedBy) => {
      if (code === 0) resolve(output);
      else reject(new Error(`the plugin ${command} failed with ${code ?? killedBy}`));
    });
  });
}

function credentialIn(output: string): PluginCredential | undefined {
  const { status } = asObject(jsonIn(output));
  if (!isObject(status)) return undefined;
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status;
  const expiresAtMs = typeof expirationTimestamp === 'string' ? Date.parse(expirationTimestamp) : Infinity;
  return { token: textOf(token), tls: { cert: textOf(cert), key: textOf(key) }, expiresAtMs };
}

function jsonIn(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    return undefined;
  }
}
