STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.0

# Packages whose tests run goroutines against each other, but for their examples. The race detector needs a C compiler.
CONCURRENT = ./internal/datasets ./cpu ./tuner

# The race run of make test has few cases of each property: the suite has the rest, and make test-all has them in both.
RACE = -short
test-all: RACE =

# Packages whose tests take longest. They begin first, or the last one would have a single core for minutes.
LONGEST = ./cuda ./accountant ./cmd/dptrain

.PHONY: help build tune test suite test-all lint race bench release image gpu-test gpu-bundle

help:
	@echo 'make tune   build, then tune and train on the embedded data set: about a minute, no download'
	@echo 'make test      what continuous integration runs: six minutes on two cores'
	@echo 'make test-all  everything: more cases, other seeds each time, the mutants of the kernels'
	@echo 'make lint   gofmt, go vet, staticcheck, comments of at most 120 columns'
	@echo 'make bench  every benchmark'
	@echo 'make build  bin/dptrain'
	@echo 'make release     archives for all platforms in build/release; VERSION=v1.2.3 names a version'
	@echo 'make image       a container image, by docker'
	@echo 'make gpu-test    the tests that need a GPU, on this machine'
	@echo 'make gpu-bundle  an archive that tests and measures on a machine with a GPU and nothing else'

build:
	go build -o bin/dptrain ./cmd/dptrain

tune: build
	bin/dptrain tune

# Two at a time: each of the three has stretches that leave a core idle. lint has vetted all packages: without -vet=off go
# test does it again, and once more for the race detector. Properties draw the same each time; a failure in test-all says
# which seed shows it.
test:
	@$(MAKE) --no-print-directory -j2 lint race suite

suite:
	RAPID_SEED=1 go test -vet=off -timeout 20m $(LONGEST) ./...

test-all: lint race
	DPTRAIN_LONG=1 go test -vet=off -count=1 -timeout 60m $(LONGEST) ./...

# Compilers, vet and staticcheck end before garbage matters: they take a fifth of their time to collect it.
lint:
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "not gofmt-clean: $$unformatted" >&2; exit 1; fi
	go test -vet=off -count=1 -run '^TestCommentsAreNarrow$$' .
	GOGC=off GOMEMLIMIT=1GiB go vet ./...
	GOGC=off GOMEMLIMIT=2GiB go run $(STATICCHECK) ./...

race:
	@if [ "$$(go env CGO_ENABLED)" = 1 ]; then set -x; GOGC=off GOMEMLIMIT=1GiB go build -race $(CONCURRENT) && RAPID_SEED=1 go test -vet=off -race $(RACE) -timeout 20m -run '^(Test|Fuzz)' $(CONCURRENT); \
	else echo 'no C compiler: the race detector is left out' >&2; fi

bench:
	go test -run '^$$' -bench . -benchmem ./...

release:
	release/build $(VERSION)

image:
	docker build --build-arg VERSION=$(VERSION) --build-arg COMMIT=$$(git describe --always --exclude '*' --abbrev=40 --dirty) -t dptrain .

gpu-test:
	go test -count=1 -timeout 30m -v -run Card ./cuda -card

gpu-bundle:
	bench/gpu/bundle
