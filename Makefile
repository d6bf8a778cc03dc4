# `make run` tries askback, `make test` checks it. Node 26 and Postgres 18 come from npm.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
SHELL := /bin/bash
tsx := node --import tsx
installed := node_modules/.package-lock.json

.DEFAULT_GOAL := help

# The first run prints addresses and keys once, so the port must be free.
define PORT_IS_FREE
const { HOST: host = '127.0.0.1', PORT: port = 8080 } = process.env;
const server = require('node:net').createServer();
server.once('error', ({ code }) => {
  console.error(code === 'EADDRINUSE'
    ? host + ':' + port + ' is in use by another program. Choose another port: PORT=8081 make run'
    : 'cannot listen on ' + host + ':' + port + ': ' + code);
  process.exit(2);
});
server.listen(port, host, () => server.close());
endef
export PORT_IS_FREE

.PHONY: help run askback test e2e test-prometheus test-proxies test-poolers test-clients bench faults binary deb test-binary test-installed
.PHONY: drills test-upgrade client rpm image sbom release site frozen screenshots
.PHONY: check types lint prose format schema openapi licenses

## help: list these targets
help:
	@awk '/^## / { sub(/^## /, ""); i = index($$0, ": "); printf "make %-16s %s\n", substr($$0, 1, i - 1), substr($$0, i + 2) }' $(MAKEFILE_LIST)

## run: serve from this clone; the first time with demo data
run: $(installed)
	@node --version >/dev/null 2>&1 || { \
	  echo "Node 26 does not start. On Debian and Ubuntu run: apt-get install libatomic1"; exit 1; }
	@if test -n "$$DATABASE_URL"; then :; elif test -e "$${ASKBACK_DATA_DIR:-askback-data}/cluster"; then \
	  echo "The first run printed the password and keys of the demo. ops/askback demo shows how to create new ones."; \
	else \
	  node --env-file-if-exists=.env -e "$$PORT_IS_FREE" || exit 2; \
	  echo "first run: creating a database and loading demo data..."; $(tsx) src/main.ts demo; fi
	@exec $(tsx) src/main.ts serve

## askback: run a command, like ops/askback: make askback do="org list"
askback: $(installed)
	@ops/askback $(do)

## test: all tests, on a temporary Postgres (or TEST_DATABASE_URL); only=NAME picks files
test: $(installed)
	@$(tsx) test/run.ts $(only)

## e2e: pages in a real browser (path in CHROMIUM), screenshots in .cache/screenshots; only=NAME picks files, SCREENS=NAME screens of the app
e2e: $(installed)
	@$(tsx) test/run.ts --browser $(only)

## test-prometheus: metrics, alerts and dashboard, run by `bash ops/ci/with-prometheus make test-prometheus`
test-prometheus: $(installed)
	@$(tsx) test/run.ts --prometheus $(only)

## test-proxies: the proxies of ops/proxy.md, run by `bash ops/ci/with-proxies make test-proxies`
test-proxies: $(installed)
	@$(tsx) test/run.ts --proxies $(only)

## test-poolers: the service behind PgBouncer, run by `bash ops/ci/with-postgres-15 bash ops/ci/with-pgbouncer make test-poolers`
test-poolers: $(installed)
	@$(tsx) test/run.ts --poolers $(only)

## test-clients: linters and generated clients of the API, run by `bash ops/ci/with-clients make test-clients`
test-clients: $(installed)
	@$(tsx) test/run.ts --clients

## bench: cost of the service compared with bare SQL; only=NAME runs one part, times=5 prints medians, keep=yes updates ops/benchmarks.md
bench: $(installed)
	@$(tsx) test/bench/run.ts $(only) $(if $(times),--times=$(times)) $(if $(keep),--keep)

## faults: kill processes, connections and Postgres under load, and print what arrived; only=WORD picks
faults: $(installed)
	@$(tsx) test/faults/run.ts $(only)

## drills: restarts, failovers, lagging replicas and full disks, run by `bash ops/ci/with-patroni make drills`; only=WORD picks
drills: dist/askback
	@$(tsx) test/drills/run.ts $(only)

## binary: build dist/askback, one executable with Node, the program and Postgres; POSTGRES=DIR uses another Postgres 18
binary: dist/askback

# make cannot tell whether another Postgres has changed, so this always builds.
ifdef POSTGRES
.PHONY: dist/askback
endif

dist/askback: $(installed) $(shell find src sql ops/build ops/vendor -type f)
	@$(tsx) ops/build/binary.ts

## deb: build dist/askback_VERSION_ARCHITECTURE.deb, with the executable, its units and its account
deb: dist/askback
	@$(tsx) ops/build/deb.ts

## rpm: build dist/askback-VERSION-1.ARCHITECTURE.rpm with the same content
rpm: deb
	@ops/build/rpm

## image: build dist/askback-VERSION-image-ARCHITECTURE.tar, an OCI image layout, without a container engine
image: dist/askback
	@ops/build/image

## screenshots: take the pictures in ops/pictures from a demo of its own, with the browser of the e2e tests (path in CHROMIUM)
screenshots: $(installed)
	@$(tsx) ops/build/screenshots.ts

## client: build dist/askback-client-VERSION.tgz, an npm package with a typed client
client: $(installed)
	@$(tsx) ops/build/client.ts

## sbom: list the contents of the executable as CycloneDX
sbom: $(installed)
	@$(tsx) ops/build/sbom.ts

## release: build a release of the newest commit twice, compare, and put it into dist/release
release: $(installed)
	@$(tsx) ops/build/release.ts

## test-binary: start dist/askback in an empty folder
test-binary: dist/askback
	@$(tsx) --test test/binary.test.ts

## test-installed: the package in a Debian with systemd, run by `bash ops/ci/with-debian make test-installed`
test-installed: dist/askback
	@$(tsx) --test test/installed.test.ts

## test-upgrade: from the previous release to this version, run by `bash ops/ci/with-previous make test-upgrade`
test-upgrade: $(installed)
	@$(tsx) --test test/release-upgrade.test.ts

## check: check types, style, prose and released migrations
check: types lint prose frozen

## frozen: check that released migrations are unchanged; how=--write freezes all before a release
frozen: $(installed)
	@$(tsx) ops/ci/frozen.ts $(how)

## types: check only types
types: $(installed)
	@tsc -p .

## lint: check only style
lint: $(installed)
	@biome ci --colors=off --error-on-warnings .

## prose: check how comments begin and how long titles of tests are
prose: $(installed)
	@$(tsx) ops/ci/check-prose.ts

## format: fix the style
format: $(installed)
	@biome check --colors=off --write .

## schema: write sql/schema.sql from the migrations; how=--check only compares
schema: $(installed)
	@$(tsx) ops/build/schema.ts $(how)

## site: build the documentation site into dist/site, and check its links
site: $(installed) ops/site/node_modules/.package-lock.json
	@$(tsx) ops/site/build.ts

ops/site/node_modules/.package-lock.json: ops/site/package-lock.json
	@npm ci --prefix ops/site --ignore-scripts --loglevel=error --no-progress --no-update-notifier
	@touch $@

## licenses: write ops/licenses.txt from the installed packages; how=--check only compares
licenses: $(installed)
	@$(tsx) ops/build/licenses.ts $(how)

## openapi: update ops/openapi.json and ops/errors.md; fails if a change would break clients
openapi: $(installed)
	@$(tsx) ops/build/openapi.ts

$(installed): package.json package-lock.json
	@echo "installing dependencies (a minute the first time)..."
	@npm ci --loglevel=error --no-progress --no-update-notifier
	@touch $(installed)
