import type { Field } from './field.ts';

const howToGetAll =
  'write all pages: kubectl get reads all of them (kubectl get --raw does not), and so does dustpan snapshot';

/** Throws InputError for a document or a list that declares itself one page of a longer list. */
export function refusePage(document: Field): void {
  const metadata = document.isObject ? document.at('metadata') : undefined;
  if (metadata?.isObject !== true) return;
  const missing = metadata.at('remainingItemCount').integer();
  const noun = missing === 1n ? 'item is' : 'items are';
  if (missing > 0n)
    throw metadata
      .at('remainingItemCount')
      .wrong(`the file has one page of a list, ${missing} more ${noun} missing; ${howToGetAll}`);
  if (metadata.at('continue').text('') !== '')
    throw metadata
      .at('continue')
      .wrong(`the file has one page of a list, more items are missing; ${howToGetAll}`);
}
