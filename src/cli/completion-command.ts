import type { Command } from './command.ts';
import { exitCode } from './exit.ts';

export const completionCommand: Command = {
  name: 'completion',
  summary: 'prints a script that lets a shell complete our words',
  operands: ['bash|zsh|fish'],
  description:
    'Prints a script for a shell. Once it has been read there, the Tab key completes commands, flags, their values, files and directories. ' +
    'The script asks the program itself, so that it need not be made again when dustpan is updated. ' +
    'In kubectl, which has its own completion, it is enough that kubectl_complete-dustpan stands beside kubectl-dustpan on the PATH: ' +
    'both are links to this program.',
  flags: [],
  environment: [],
  examples: [
    { what: 'in ~/.bashrc', line: 'source <(dustpan completion bash)' },
    {
      what: 'for zsh, in a directory of its $fpath',
      line: 'dustpan completion zsh > "${fpath[1]}/_dustpan"',
    },
    {
      what: 'for fish',
      line: 'dustpan completion fish > ~/.config/fish/completions/dustpan.fish',
    },
    {
      what: 'for kubectl, where kubectl-dustpan has been installed by krew',
      line: 'ln -s kubectl-dustpan ~/.krew/bin/kubectl_complete-dustpan',
    },
  ],
  run: async ({ args: [shell] }, { stdout }) => {
    const { completionScripts } = await import('./completion-scripts.ts');
    const script = completionScripts.get(shell ?? '');
    if (script === undefined) throw new Error(`no script for ${String(shell)}`);
    stdout(script);
    return exitCode.ok;
  },
};
