STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.0

# OPENBLAS=1 takes matrix products from that library, which must be installed, and needs a C compiler. It isn't
# used where it happens to be installed because it is slower at these sizes (bench/results). The
# default is this project's own kernels and needs nothing but Go.
TAGS =
ifdef OPENBLAS
TAGS = openblas
export CGO_LDFLAGS ?= $(shell pkg-config --libs openblas 2>/dev/null || echo -lopenblas)
endif

# Packages whose tests run goroutines against each other. The race detector needs a C compiler.
CONCURRENT = ./datasets ./train/cpu/... ./tuner

.PHONY: help build tune test lint race bench

help:
	@echo 'make tune   build, then tune and train on the embedded data set: about a minute, no download'
	@echo 'make test   everything that continuous integration runs'
	@echo 'make lint   gofmt, go vet, staticcheck'
	@echo 'make bench  every benchmark'
	@echo 'make build  bin/dptrain; OPENBLAS=1 links OpenBLAS'

build:
	go build -tags '$(TAGS)' -o bin/dptrain ./cmd/dptrain

tune: build
	bin/dptrain tune

test: lint race
	go test -tags '$(TAGS)' ./...

lint:
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "not gofmt-clean: $$unformatted" >&2; exit 1; fi
	go vet ./...
	go run $(STATICCHECK) ./...

race:
	@if [ "$$(go env CGO_ENABLED)" = 1 ]; then set -x; go test -race -short $(CONCURRENT); \
	else echo 'no C compiler: the race detector is left out' >&2; fi

bench:
	go test -tags '$(TAGS)' -run '^$$' -bench . -benchmem ./...
