import type { PolicyCount } from './document.ts';

/** What will really happen, in one sentence a policy: nobody should take a dry run for the real thing, or the real thing for a dry run. */
export function modeSentences(policies: readonly PolicyCount[]): readonly string[] {
  if (policies.length === 0) return [];
  if (policies.some(({ mode }) => mode === 'Enforce')) return policies.map(sentence);
  const names = policies.map(({ name }) => name).join(', ');
  return [
    policies.length === 1
      ? `GCPolicy ${names} is in DryRun: nothing will be touched.`
      : `GCPolicies ${names} are in DryRun: nothing will be touched.`,
  ];
}

function sentence({ name, mode, planned }: PolicyCount): string {
  const subject = `GCPolicy ${name} is in ${mode}`;
  if (planned === 0) return `${subject}: nothing listed here goes by it.`;
  const fate = mode === 'Enforce' ? 'will really be removed' : 'will not be touched';
  return `${subject}: what goes by it (${planned}) ${fate}.`;
}
