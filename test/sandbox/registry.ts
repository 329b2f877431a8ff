import { Failure, noSuchResource, PageNotFound } from './failure.ts';
import type { JsonObject } from './json.ts';
import { apiVersionOf, builtInResources, customResource, type Resource } from './resources.ts';

/** The resources that are served at the moment. */
export class Registry {
  #resources = builtInResources;

  get resources(): readonly Resource[] {
    return this.#resources;
  }

  install(crds: readonly JsonObject[]): void {
    const added = crds.map(customResource).filter((resource) => this.#find(resource) === undefined);
    this.#resources = [...this.#resources, ...added];
  }

  /** Throws as the real server answers: a group or a custom resource that is not installed is no page at all. */
  resource(groupVersion: string, plural: string): Resource {
    const found = this.#resources.find(
      (resource) => resource.plural === plural && apiVersionOf(resource) === groupVersion,
    );
    if (found !== undefined) return found;
    const builtIn = builtInResources.some((resource) => apiVersionOf(resource) === groupVersion);
    throw builtIn ? noSuchResource() : new PageNotFound();
  }

  /** For tests, which know objects by kind. */
  byKind(kind: string, apiVersion?: string): Resource {
    const found = this.#resources.find(
      (resource) =>
        resource.kind === kind && (apiVersion === undefined || apiVersionOf(resource) === apiVersion),
    );
    if (found === undefined) throw new Failure(`no resource of kind ${kind}`, { code: 404 });
    return found;
  }

  #find({ group, plural }: Resource): Resource | undefined {
    return this.#resources.find((resource) => resource.group === group && resource.plural === plural);
  }
}
