import { basename } from 'node:path';

interface Invocation {
  /** As the person types it: `kubectl dustpan` when kubectl found us by name. */
  readonly program: string;
  readonly words: readonly string[];
}

/** The word that asks for the candidates to complete the words after it. */
export const completeWord = '__complete';

/**
 * What was asked, and by which name. kubectl runs `kubectl-NAME` as its plugin, and `kubectl_complete-NAME` for the words that complete it
 * (k8s.io/kubectl/pkg/cmd/plugin/plugin_completion.go); both are links to the one entry point.
 */
export function invocation([, path = '', ...words]: readonly string[]): Invocation {
  const name = basename(path);
  if (name.startsWith('kubectl_complete-'))
    return { program: 'kubectl dustpan', words: [completeWord, ...words] };
  return { program: name.startsWith('kubectl-') ? 'kubectl dustpan' : 'dustpan', words };
}
