# One image for the controller, the agent and the CLI: docs/adr/0015-one-image-for-controller-and-agent.md. scripts/image/layout.ts describes it once more,
# for `npm run image`; a test compares the two.
#   docker build -t dustpan:0.1.0 .
#   docker buildx build --platform linux/amd64,linux/arm64 …     no emulation needed: nothing runs in the last stage
# Both bases may be others, of a registry of yours or fixed by digest, as the release fixes them:
#   --build-arg NODE_IMAGE=gcr.io/distroless/nodejs24-debian13:nonroot@sha256:…
ARG BUILD_IMAGE=docker.io/library/node:24-trixie-slim
ARG NODE_IMAGE=gcr.io/distroless/nodejs24-debian13:nonroot

# The bundle is the same for every architecture, so it is made on the builder's own.
FROM --platform=$BUILDPLATFORM ${BUILD_IMAGE} AS bundle
# For BuildKit: what is bundled has no package.json in the image, so the SBOM looks here too.
ARG BUILDKIT_SBOM_SCAN_STAGE=true
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
# No package's own script is needed, so none is run.
RUN ["npm", "ci", "--ignore-scripts"]
COPY tsconfig.json ./
COPY scripts/build.mjs scripts/bundled-packages.ts scripts/
COPY src src
ARG REVISION=unknown
ENV DUSTPAN_REVISION=${REVISION}
RUN ["npm", "run", "build"]

FROM ${NODE_IMAGE}
ARG VERSION=unreleased
ARG REVISION=unknown
LABEL org.opencontainers.image.title="dustpan" \
      org.opencontainers.image.description="Policy-driven garbage collection for Kubernetes" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
WORKDIR /app
# Modes are given where files come from a checkout: its umask is not ours.
COPY --chmod=0644 LICENSE /app/LICENSE
COPY --from=bundle /src/dist/THIRD-PARTY.txt /app/THIRD-PARTY.txt
COPY --chmod=0644 package.json /app/package.json
COPY --chmod=0755 scripts/image/dustpan /usr/local/bin/dustpan
COPY --from=bundle /src/dist/*.js /app/dist/
# The agent is run as 0 by its pod, for the runtime's socket.
USER 65532:65532
ENTRYPOINT ["/nodejs/bin/node", "/app/dist/main.js"]
