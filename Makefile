# Everything that CI does can be done by hand with these targets.
SHELL := /bin/bash
GO ?= go
export GOFLAGS ?=
PKGS := ./...
# Packages with locks, atomics and goroutines, run once more under the race detector.
RACE := ./lb/... ./stack/... ./cmd/... ./bench/...

.DEFAULT_GOAL := help
.PHONY: help run build test tap forward race check vet fmt model bench bench-tables bench-once strace syscalls fuzz stress ci setup peers clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## see that Go is there, and fetch what the module needs
	@command -v $(GO) >/dev/null || { echo "Go is missing: apt-get install golang (1.26 or newer), or see https://go.dev/dl"; exit 1; }
	@$(GO) mod download

peers: ## install the proxies that penbench compares with (Debian packages)
	@{ command -v haproxy && command -v nginx && ls /usr/lib/nginx/modules/ngx_stream_module.so; } >/dev/null 2>&1 || \
	  { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends haproxy nginx-light libnginx-mod-stream; }

strace:
	@command -v strace >/dev/null || { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q strace; }

build: setup ## build bin/penstock and bin/penbench
	$(GO) build -o bin/ ./cmd/...

run: build ## start the proxy with two demo servers and demo clients: watch them queue
	./bin/penstock run -demo -admin 127.0.0.1:8081 -access-log stderr

test: setup ## run all tests (those of the page look into a browser if chromium and node are there)
	$(GO) test $(PKGS)

tap: setup ## the black-box cases once more, with clients on a TAP device (root; three minutes)
	$(GO) test -count=1 -run TestOverTap -timeout 30m ./tools/cases -whole

forward: setup ## the black-box cases once more, with mode=forward between two TAP devices (root; three minutes)
	$(GO) test -count=1 -run TestOverForward -timeout 30m ./tools/cases -whole

race: setup ## the tests again, under the race detector
	$(GO) test -race -short $(RACE)

vet: setup ## gofmt and go vet
	@out=$$(gofmt -l .); [ -z "$$out" ] || { echo "gofmt: $$out"; exit 1; }
	$(GO) vet $(PKGS)

check: vet ## vet, the rules of the house (tools/policy), and that BENCHMARKS.md is as its raw files say
	$(GO) test -count=1 ./tools/policy
	$(GO) run ./cmd/penbench tables -check

model: setup ## check the core protocol state by state, and that each seeded fault is caught
	$(GO) run ./tools/model

stress: setup ## ten million hand-offs through the core
	$(GO) test -count=1 -run TestStress -timeout 30m ./lb/dispatch -args -handoffs=10000000

# What is compared closely gets ten rounds.
CLOSELY := short steady keepalive bulk-1 bulk-16 tap-short tap-bulk fwd-short fwd-keepalive fwd-bulk
OTHERS := parked-memory idle-memory release-latency limit-1-many-cores overload-10x churn-with-aborts \
  refusing-member unfair-sender reload-under-load queue-cost \
  syn-park-memory syn-park-rate tap-release-latency syn-flood syn-generator fwd-established
bench: build peers strace ## measure everything again, into bench/results (three quarters of an hour)
	code=0; ./bin/penbench run $(CLOSELY) -rounds 10 || code=1; ./bin/penbench run $(OTHERS) -rounds 5 || code=1; \
	  mkdir -p bench/results; for s in $(CLOSELY) $(OTHERS); do cp bench/out/$$s.json bench/results/; done; exit $$code
	tools/gobench/run bench/results
	tools/syscalls/run all > bench/results/syscalls.txt

bench-tables: build ## fill BENCHMARKS.md, and draw its plots, from bench/results
	./bin/penbench tables

bench-once: build peers ## each Go benchmark once, each scenario for a second: that none rots
	$(GO) test -run '^$$' -bench . -benchtime 1x $(PKGS)
	./bin/penbench run all -once

syscalls: build strace ## count the system calls of a short connection
	tools/syscalls/run all

# Until Go 1.27 a target can fail at the end of its time, of that alone: the coordinator
# sees the deadline before its workers do (go.dev/issue/75804). That is no finding; one
# has more to say.
FUZZTIME ?= 60s
fuzz: setup ## each fuzz target for FUZZTIME
	@set -e -o pipefail; out=$$(mktemp); trap "rm -f $$out" EXIT; for f in $$(grep -rlE '^func Fuzz' --include=*_test.go .); do \
	  d=$$(dirname $$f); \
	  for n in $$(grep -ohE '^func Fuzz[A-Za-z0-9]+' $$f | cut -c6-); do \
	    echo "== $$d $$n"; code=0; \
	    $(GO) test -run '^$$' -fuzz "^$$n$$" -fuzztime $(FUZZTIME) $$d 2>&1 | tee $$out || code=$$?; \
	    [ $$code = 0 ] || [ "$$(sed -n '/^--- FAIL/,/^FAIL/p' $$out | sed '1d;$$d')" = "    context deadline exceeded" ] || exit $$code; \
	  done; done

ci: check test tap forward race model bench-once ## all that CI runs
	$(MAKE) fuzz FUZZTIME=3s

clean: ## remove what was built
	rm -rf bin
