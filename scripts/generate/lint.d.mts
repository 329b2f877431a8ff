export function lintCrd(crd: object): string[];
