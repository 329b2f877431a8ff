import module from '@dot-i/k8s-operator';

type Frame = typeof module.default;

/** The library's base class, wherever it is: Node and the bundler wrap a CommonJS default export, Vitest unwraps it. */
export const Operator: Frame =
  (module as { readonly default?: Frame }).default ?? (module as unknown as Frame);
