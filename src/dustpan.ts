import { basename } from 'node:path';
import { currentSystem } from './process/config.ts';
import { completeWord, Program } from './commands/cli/program.ts';

const [, path = '', ...words] = process.argv;
const name = basename(path);
// kubectl runs kubectl-NAME as its plugin, and kubectl_complete-NAME to complete the words after it
// (k8s.io/kubectl/pkg/cmd/plugin/plugin_completion.go). Both are links to this file.
const isCompletion = name.startsWith('kubectl_complete-');
const program = new Program(
  currentSystem(isCompletion || name.startsWith('kubectl-') ? 'kubectl dustpan' : 'dustpan'),
);

// A bug that no loop caught: one line instead of a dump, and a restart by the supervisor.
process.on('uncaughtException', (err) => process.exit(isClosedPipe(err) ? 0 : program.report(err)));

// All output is synchronous, so nothing is lost; connections kept alive must not hold the process back.
// Without an await outside of functions, which an executable (npm run executable) cannot have.
void program.run(isCompletion ? [completeWord, ...words] : words).then((code) => process.exit(code));

/** A reader that had enough (`| head`) is no failure of ours. */
function isClosedPipe(err: Error): boolean {
  return 'code' in err && err.code === 'EPIPE' && 'syscall' in err && err.syscall === 'write';
}
