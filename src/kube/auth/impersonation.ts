import type { RequestHeaders } from '../http/endpoint.ts';
import { textOf } from '../codec/json.ts';

/** Whom the API server shall take us for; the fields of a kubeconfig's user, or kubectl's flags. */
export interface Impersonation {
  readonly user?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly uid?: string | undefined;
}

export function impersonationOf(user: Readonly<Record<string, unknown>>): Impersonation {
  const groups = user['as-groups'];
  return {
    user: textOf(user['as']),
    groups: Array.isArray(groups) ? groups.flatMap((one: unknown) => textOf(one) ?? []) : [],
    uid: textOf(user['as-uid']),
  };
}

/** Merges both, field by field as kubectl does: `flags` take precedence. */
export const merged = (flags: Impersonation, file: Impersonation): Impersonation => ({
  user: flags.user ?? file.user,
  groups: flags.groups !== undefined && flags.groups.length > 0 ? flags.groups : file.groups,
  uid: flags.uid ?? file.uid,
});

export const impersonationHeaders = ({ user, groups = [], uid }: Impersonation): RequestHeaders => ({
  ...(user !== undefined && { 'impersonate-user': user }),
  ...(groups.length > 0 && { 'impersonate-group': groups }),
  ...(uid !== undefined && { 'impersonate-uid': uid }),
});
