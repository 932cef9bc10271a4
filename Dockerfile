# The server and the `cognition` command, without compilers, tests or sources. Build: docker build -t cognition .
# Run it with --init: Node as the first process of a container never collects what commands of agents leave behind.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.base.json tsconfig.build.json ./
COPY packages packages
COPY testing/remove-builds.ts testing/remove-builds.ts
# With the optional dependencies: the compiler's own program for this platform is one.
RUN npm ci --ignore-scripts
RUN npm run build

FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY --from=build /app/packages packages
# Without them: those of the workspace are Node itself, for machines that have none, and this image has it.
RUN npm ci --ignore-scripts --omit=dev --omit=optional \
  && rm -rf packages/*/src packages/*/scripts packages/*/page/*.ts packages/*/*.tsbuildinfo

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    COGNITION_HOST=0.0.0.0 \
    COGNITION_PORT=8000 \
    COGNITION_WORKSPACE_ROOT=/workspace \
    COGNITION_LOG_FORMAT=json
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=dependencies /app/packages packages
RUN ln -s /app/packages/cli/dist/main.js /usr/local/bin/cognition \
  && chmod +x packages/cli/dist/main.js \
  && mkdir /workspace \
  && chown node:node /workspace
USER node
WORKDIR /workspace
VOLUME /workspace
EXPOSE 8000
# Drains on SIGTERM: running work is kept and goes on at the next start, or on another node.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8000/ready').then(({ok}) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["cognition"]
CMD ["serve"]
