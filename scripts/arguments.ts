import { basename } from 'node:path';
import { parseArgs, type ParseArgsConfig } from 'node:util';

/** The options of a script; what is typed wrongly gets one line, and the script exits with 2. */
export function scriptOptions<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (err) {
    if (!(err instanceof TypeError)) throw err;
    // Only the first sentence is about what was typed.
    process.stderr.write(`${basename(process.argv[1] ?? '', '.ts')}: ${err.message.split('. ')[0] ?? ''}\n`);
    process.exit(2);
  }
}
