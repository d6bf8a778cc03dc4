# askback: `make run` to try it, `make test` to check it. Node 26 and Postgres 18 come through npm.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
SHELL := /bin/bash

.PHONY: check types lint format
installed := node_modules/.package-lock.json

$(installed): package.json package-lock.json
	@echo "installing what the lock file names (a minute the first time)..."
	@npm ci --strict-allow-scripts --loglevel=error
	@touch $(installed)

## check: types and style
check: types lint

types: $(installed)
	@tsc -p .

lint: $(installed)
	@biome ci --colors=off --error-on-warnings .

format: $(installed)
	@biome check --colors=off --write .

## test: the whole suite against a real Postgres (TEST_DATABASE_URL)
test: $(installed)
	@node --import tsx --test 'test/**/*.test.ts'
.PHONY: test

## schema: draws sql/schema.sql from the migrations
schema: $(installed)
	@node --import tsx ops/build/schema.ts
.PHONY: schema
