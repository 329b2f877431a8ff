import { commands } from './commands.ts';
import { currentSystem } from './config.ts';
import { complain, dispatch } from './dispatch.ts';
import { invocation } from './invocation.ts';

const { program, words } = invocation(process.argv);
const system = currentSystem(program);

// A bug that no loop caught: one line instead of a dump, and a restart by whoever watches us.
process.on('uncaughtException', (err) => {
  process.exit(isClosedPipe(err) ? 0 : complain(err, words, system));
});

// All output is synchronous, so nothing is lost; connections kept alive must not hold the process back.
process.exit(await dispatch(commands, words, system));

/** A reader that had enough (`| head`) is no failure of ours. */
function isClosedPipe(err: Error): boolean {
  return 'code' in err && err.code === 'EPIPE' && 'syscall' in err && err.syscall === 'write';
}
