# askback: `make run` to try it, `make test` to check it. Node 26 and Postgres 18 come through npm.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
SHELL := /bin/bash
tsx := node --import tsx
installed := node_modules/.package-lock.json

.DEFAULT_GOAL := help

# The first run shows addresses and keys once: it must not show those of another program.
define PORT_IS_FREE
const { HOST: host = '127.0.0.1', PORT: port = 8080 } = process.env;
const server = require('node:net').createServer();
server.once('error', ({ code }) => {
  console.error(code === 'EADDRINUSE'
    ? host + ':' + port + ' is in use by another program: choose another port, as in PORT=8081 make run'
    : 'cannot listen on ' + host + ':' + port + ': ' + code);
  process.exit(2);
});
server.listen(port, host, () => server.close());
endef
export PORT_IS_FREE

.PHONY: help run askback test e2e test-prometheus test-proxies test-poolers test-clients bench faults binary deb test-binary test-installed
.PHONY: drills client sbom release
.PHONY: check types lint format schema openapi licenses

## help: lists these targets
help:
	@awk '/^## / { sub(/^## /, ""); i = index($$0, ": "); printf "make %-16s %s\n", substr($$0, 1, i - 1), substr($$0, i + 2) }' $(MAKEFILE_LIST)

## run: serves from this checkout; the first time with a demo organization
run: $(installed)
	@node --version >/dev/null 2>&1 || { \
	  echo "Node 26 does not start here; on Debian and Ubuntu it needs: apt-get install libatomic1"; exit 1; }
	@if test -n "$$DATABASE_URL"; then :; elif test -e "$${ASKBACK_DATA_DIR:-askback-data}/cluster"; then \
	  echo "password and keys of the demo were shown at the first run; ops/askback demo says how to make others"; \
	else \
	  node --env-file-if-exists=.env -e "$$PORT_IS_FREE" || exit 2; \
	  echo "first run: making a database and filling a demo organization..."; $(tsx) src/main.ts demo; fi
	@exec $(tsx) src/main.ts serve

## askback: runs a command, as ops/askback does: make askback do="org list"
askback: $(installed)
	@ops/askback $(do)

## test: the whole suite, on a Postgres of its own (or TEST_DATABASE_URL); only=NAME picks files
test: $(installed)
	@$(tsx) test/run.ts $(only)

## e2e: the pages in a real browser (CHROMIUM names it), pictures in .cache/screenshots; only=NAME picks files, SCREENS=NAME screens of the app
e2e: $(installed)
	@$(tsx) test/run.ts --browser $(only)

## test-prometheus: metrics, alerts and dashboard by a real Prometheus and promtool, both on the PATH
test-prometheus: $(installed)
	@$(tsx) test/run.ts --prometheus $(only)

## test-proxies: the proxies of ops/proxy.md in front of the service, by way of `bash ops/ci/with-proxies make test-proxies`
test-proxies: $(installed)
	@$(tsx) test/run.ts --proxies $(only)

## test-poolers: the service behind PgBouncer, by way of `bash ops/ci/with-postgres-15 bash ops/ci/with-pgbouncer make test-poolers`
test-poolers: $(installed)
	@$(tsx) test/run.ts --poolers $(only)

## test-clients: clients that three generators make of the API, and linters, by way of `bash ops/ci/with-clients make test-clients`
test-clients: $(installed)
	@$(tsx) test/run.ts --clients

## bench: what the service costs compared with bare statements, only=NAME runs one part, times=5 prints medians, keep=yes writes it into ops/benchmarks.md
bench: $(installed)
	@$(tsx) test/bench/run.ts $(only) $(if $(times),--times=$(times)) $(if $(keep),--keep)

## faults: kills processes, connections and Postgres while answers and mails go through, and prints what arrived; only=WORD picks
faults: $(installed)
	@$(tsx) test/faults/run.ts $(only)

## drills: restarts, failovers, lagging replicas and full disks around dist/askback, by way of `bash ops/ci/with-patroni make drills`; only=WORD picks
drills: dist/askback
	@$(tsx) test/drills/run.ts $(only)

## binary: dist/askback, one executable with Node, the program and Postgres inside; POSTGRES=DIR takes another Postgres 18
binary: dist/askback

# Another Postgres is not seen by its time: it is always built anew.
ifdef POSTGRES
.PHONY: dist/askback
endif

dist/askback: $(installed) $(shell find src sql ops/build ops/vendor -type f)
	@$(tsx) ops/build/binary.ts

## deb: dist/askback_VERSION_ARCHITECTURE.deb, which installs that executable, its units and its account
deb: dist/askback
	@$(tsx) ops/build/deb.ts

## client: dist/askback-client-VERSION.tgz, an npm package with typed calls to the API
client: $(installed)
	@$(tsx) ops/build/client.ts

## sbom: everything that the executable contains, as CycloneDX
sbom: $(installed)
	@$(tsx) ops/build/sbom.ts

## release: all that is published, made twice from clones of the newest commit and compared, in dist/release
release: $(installed)
	@$(tsx) ops/build/release.ts

## test-binary: starts dist/askback where there is nothing else
test-binary: dist/askback
	@$(tsx) --test test/binary.test.ts

## test-installed: the package in a Debian with systemd, by way of `bash ops/ci/with-debian make test-installed`
test-installed: dist/askback
	@$(tsx) --test test/installed.test.ts

## check: types and style
check: types lint

## types: the types alone
types: $(installed)
	@tsc -p .

## lint: the style alone
lint: $(installed)
	@biome ci --colors=off --error-on-warnings .

## format: mends the style
format: $(installed)
	@biome check --colors=off --write .

## schema: draws sql/schema.sql from the migrations; how=--check only compares
schema: $(installed)
	@$(tsx) ops/build/schema.ts $(how)

## licenses: writes ops/licenses.txt from what the lock file names; how=--check only compares
licenses: $(installed)
	@$(tsx) ops/build/licenses.ts $(how)

## openapi: accepts what the API has gained into ops/openapi.json; refuses what would break a client
openapi: $(installed)
	@$(tsx) ops/build/openapi.ts

$(installed): package.json package-lock.json
	@echo "installing what the lock file names (a minute the first time)..."
	@npm ci --loglevel=error --no-progress --no-update-notifier
	@touch $(installed)
