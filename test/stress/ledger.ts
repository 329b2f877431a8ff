import type { Claim } from './logs.ts';
import type { Observation } from './observation.ts';
import type { Drop } from './watch.ts';

type Kind = 'image' | 'container';

/** An object that an observation had and a later one had not. */
interface Vanished {
  readonly kind: Kind;
  readonly id: string;
  readonly name: string;
  readonly lastSeenMs: number;
  readonly missedMs: number;
  /** The first later observation that has it again: it was pulled once more. */
  returnedMs?: number;
}

interface Seen {
  readonly name: string;
  readonly atMs: number;
  /** The first observation without it. */
  readonly missedMs?: number;
}

/** The runtime confirms a removal to everyone who requests it while the object exists, and only after its own garbage collection, which takes seconds on a busy machine. */
const confirmationMs = 10_000;
/** Log lines and observations of one removal. */
const lagMs = 10_000;

/** Compares the objects that vanished with the removals that dustpan and the kubelet claim. */
export class Ledger {
  readonly #seen: Readonly<Record<Kind, Map<string, Seen>>> = {
    image: new Map(),
    container: new Map(),
  };
  readonly #vanished: Vanished[] = [];
  readonly #claims: Claim[] = [];

  add(claim: Claim): void {
    this.#claims.push(claim);
  }

  see({ atMs, images, containers }: Observation): void {
    if (images)
      this.#seeKind(
        'image',
        atMs,
        // A list that is made during a drop shows the image without its tag.
        images.map(({ id, tags }) => ({ id, name: tags[0] ?? this.#seen.image.get(id)?.name ?? id })),
      );
    if (containers)
      this.#seeKind(
        'container',
        atMs,
        containers.map(({ id, pod, name }) => ({ id, name: `${name} of pod ${pod}` })),
      );
  }

  #seeKind(
    kind: Kind,
    atMs: number,
    objects: readonly { readonly id: string; readonly name: string }[],
  ): void {
    const seen = this.#seen[kind];
    const present = new Set(objects.map(({ id }) => id));
    for (const [id, { name, atMs: lastSeenMs, missedMs }] of seen) {
      if (present.has(id)) continue;
      // An import that replaces a tag hides its image from one list.
      if (kind === 'image' && missedMs === undefined) {
        seen.set(id, { name, atMs: lastSeenMs, missedMs: atMs });
        continue;
      }
      seen.delete(id);
      this.#vanished.push({ kind, id, name, lastSeenMs, missedMs: missedMs ?? atMs });
    }
    for (const { id, name } of objects) {
      const last = seen.has(id) ? undefined : this.#vanished.findLast((one) => one.id === id);
      if (last) last.returnedMs ??= atMs;
      seen.set(id, { name, atMs });
    }
  }

  /** How many removals of this kind a component claims. */
  count(by: Claim['by'], kind: Claim['kind']): number {
    return this.#claims.filter((claim) => claim.by === by && claim.kind === kind).length;
  }

  /** Containers that dustpan claims to have removed and that an observation shows which began later. */
  falseClaims(): readonly string[] {
    const wasSeenAfter = ({ id, atMs }: Claim): boolean => (this.#seen.container.get(id)?.atMs ?? 0) > atMs;
    return this.#claims
      .filter((claim) => claim.by === 'dustpan' && claim.kind === 'container' && wasSeenAfter(claim))
      .map(({ id }) => `dustpan logged the removal of container ${id}, which exists`);
  }

  /** Objects that nobody claims to have removed, and those that dustpan counts although the kubelet had removed them. */
  open(dropped: readonly Drop[]): readonly string[] {
    const isDropped = ({ kind, name, lastSeenMs }: Vanished): boolean =>
      kind === 'image' &&
      dropped.some(({ tag, atMs }) => tag === name && Math.abs(atMs - lastSeenMs) < lagMs);
    return this.#vanished.flatMap((one) => {
      const claims = this.#claimsOf(one);
      const text = `${one.kind} ${one.id} (${one.name})`;
      if (claims.length === 0 && !isDropped(one)) return [`${text} vanished, and nobody logged its removal`];
      const isTheirs = claims.some(({ by }) => by === 'kubelet');
      const isLate =
        isTheirs && claims.some(({ by, atMs }) => by === 'dustpan' && atMs > one.missedMs + confirmationMs);
      return isLate ? [`dustpan counted the removal of ${text}, which the kubelet had removed`] : [];
    });
  }

  #claimsOf({ kind, id, lastSeenMs, missedMs, returnedMs = Infinity }: Vanished): readonly Claim[] {
    return this.#claims.filter(
      (claim) =>
        claim.kind === kind &&
        claim.id === id &&
        claim.atMs > lastSeenMs - lagMs &&
        claim.atMs < Math.min(missedMs + confirmationMs + lagMs, returnedMs),
    );
  }
}
