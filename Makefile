# askback: `make run` to try it, `make test` to check it. Node 26 and Postgres 18 come through npm.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
SHELL := /bin/bash
tsx := node --import tsx
installed := node_modules/.package-lock.json

.PHONY: test check types lint format schema openapi

## test: the whole suite, on a Postgres of its own (or TEST_DATABASE_URL); only=NAME picks files
test: $(installed)
	@$(tsx) test/run.ts $(only)

## check: types and style
check: types lint

types: $(installed)
	@tsc -p .

lint: $(installed)
	@biome ci --colors=off --error-on-warnings .

format: $(installed)
	@biome check --colors=off --write .

## schema: draws sql/schema.sql from the migrations; how=--check only compares
schema: $(installed)
	@$(tsx) ops/build/schema.ts $(how)

## openapi: accepts what the API has gained into ops/openapi.json; refuses what would break a client
openapi: $(installed)
	@$(tsx) ops/build/openapi.ts

$(installed): package.json package-lock.json
	@echo "installing what the lock file names (a minute the first time)..."
	@npm ci --strict-allow-scripts --loglevel=error
	@touch $(installed)
