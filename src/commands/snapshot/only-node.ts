import { basename } from 'node:path';
import type { ThisNode } from '../../process/config.ts';
import { usingCluster } from '../../process/connect.ts';
import type { PersonConnection } from '../../process/connection.ts';
import { exitCode, problemLine } from '../../process/exit.ts';
import type { System } from '../../process/system.ts';
import type { NodeSnapshot } from './node.ts';
import { usingNode } from './this-node.ts';

interface Given {
  readonly kube: PersonConnection;
  readonly system: System;
}

/** Writes the objects on this node to standard output: one JSON object, with a field for each file that its folder in a snapshot has. */
export async function runOnlyNode(
  config: ThisNode,
  { kube, system }: Given,
  signal: AbortSignal,
): Promise<number> {
  const warn = (line: string): void => {
    system.stderr(problemLine(`warning: ${line}`));
  };
  const files: Record<string, unknown> = {};
  const write = (file: string, text: string): Promise<void> => {
    files[basename(file, '.json')] = JSON.parse(text);
    return Promise.resolve();
  };
  const copy = async (node: NodeSnapshot): Promise<void> => {
    await node.read(signal);
    await node.write(write);
  };
  await usingCluster(kube, ({ connection, transport }) =>
    usingNode(config, { connection, transport, warn }, copy, signal),
  );
  system.stdout(`${JSON.stringify(files)}\n`);
  return exitCode.ok;
}
