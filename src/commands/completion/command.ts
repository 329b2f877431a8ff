import { Argument } from '@commander-js/extra-typings';
import { LenientCommand } from '../../process/option.ts';
import type { System } from '../../process/system.ts';

const about = `Generates a shell completion script. It completes commands, options, their values, files, directories, and the names of contexts, namespaces, nodes, pods and images. The script runs the program for each completion, so it remains valid when dustpan is updated.

kubectl has its own completion: put kubectl_complete-dustpan beside kubectl-dustpan on the PATH. Both are links to this program.

Examples:
  # in ~/.bashrc
  source <(dustpan completion bash)

  # for zsh, in a directory of its $fpath
  dustpan completion zsh > "\${fpath[1]}/_dustpan"

  # for fish
  dustpan completion fish > ~/.config/fish/completions/dustpan.fish

  # for kubectl, with a kubectl-dustpan that krew installed
  ln -s kubectl-dustpan ~/.krew/bin/kubectl_complete-dustpan`;

export const completionCommand = (system: System) =>
  new LenientCommand('completion')
    .summary('generates a shell completion script')
    .description(about)
    .addArgument(new Argument('<SHELL>', 'The shell.').choices(['bash', 'zsh', 'fish']))
    .action(async (shell) => {
      const { completionScripts } = await import('./scripts.ts');
      system.stdout(completionScripts[shell]);
    });
