import type { PodRef, Removal } from './facts.ts';
import { podRefOf } from './pods.ts';

/** What kinds of things are removed. */
export type Kind = Removal['object']['kind'];

/** What a line in the log calls each kind. */
export const nouns: Readonly<Record<Kind, string>> = {
  container: 'container',
  sandbox: 'sandbox',
  logDirectory: 'log directory',
  logLink: 'log link',
  logFile: 'rotated log',
};

/** The pod that a thing belongs to, or belonged to; undefined = it is a link or a rotated log, or its directory tells none. */
export function podOf({ object }: Pick<Removal, 'object'>): PodRef | undefined {
  switch (object.kind) {
    case 'container':
      return podRefOf(object.container);
    case 'sandbox':
      return podRefOf(object.sandbox);
    case 'logDirectory':
      return object.pod;
    case 'logLink':
    case 'logFile':
      return undefined;
  }
}

/** How a line in the log names what was removed. */
export function fieldsOf({ object, reason }: Removal): object {
  switch (object.kind) {
    case 'container':
      return { container: object.container.id, pod: podRefOf(object.container), reason };
    case 'sandbox':
      return { sandbox: object.sandbox.id, pod: podRefOf(object.sandbox), reason };
    case 'logDirectory':
    case 'logLink':
    case 'logFile':
      return { path: object.path, reason };
  }
}
