import { basename } from 'node:path';
import { parseArgs, type ParseArgsConfig } from 'node:util';

/** The options of a script; on a wrong one it prints one line and exits with 2. */
export function scriptOptions<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (err) {
    if (!(err instanceof TypeError)) throw err;
    // Only the first sentence describes the mistake.
    process.stderr.write(`${basename(process.argv[1] ?? '', '.ts')}: ${err.message.split('. ')[0] ?? ''}\n`);
    process.exit(2);
  }
}
