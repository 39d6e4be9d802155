# An image with the command, for processors and NVIDIA's GPUs:
#
#   docker build -t dptrain --build-arg VERSION=v1.2.3 --build-arg COMMIT=$(git rev-parse HEAD) .
#   docker run --rm -v "$PWD/data:/data" -v "$PWD/runs:/runs" dptrain tune --dataset mnist
#   docker run --rm --gpus all dptrain devices
#
# docs/install.md says more. make image builds it with the commit.

ARG GO_IMAGE=docker.io/library/golang:1.26-bookworm
FROM ${GO_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=
ARG COMMIT=
RUN CGO_ENABLED=0 GOFLAGS= go build -trimpath -buildvcs=false -o /image/usr/bin/dptrain -ldflags "-s -w \
    -X github.com/dptrain/dptrain/cmd/internal/build.version=${VERSION} \
    -X github.com/dptrain/dptrain/cmd/internal/build.commit=${COMMIT}" ./cmd/dptrain

# The command has no C in it, but it opens the GPU's driver at run time, and the driver is a library of C. So the command
# starts by the system's loader, and the driver takes glibc's libraries. An image without them can't even print the
# version. NVIDIA's container toolkit mounts the driver where Debian has its libraries if the image has
# /etc/debian_version.
RUN set -eu; cd /image; mkdir -p etc/ssl/certs usr/lib usr/lib64 usr/share/doc/libc6 usr/share/doc/dptrain tmp /owned/data /owned/runs; \
    ln -s usr/bin usr/lib usr/lib64 .; chmod 1777 tmp; \
    for name in libc.so.6 libdl.so.2 libm.so.6 libpthread.so.0 librt.so.1; do \
        lib=$(echo /lib/*-linux-gnu/"$name"); mkdir -p ".$(dirname "/usr$lib")"; cp -L "$lib" "./usr$lib"; \
    done; \
    for loader in /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1; do \
        if [ -e "$loader" ]; then cp -L "$loader" "./usr$loader"; fi; \
    done; \
    cp -L /etc/ssl/certs/ca-certificates.crt etc/ssl/certs/; cp /etc/debian_version etc/; \
    cp /usr/share/doc/libc6/copyright usr/share/doc/libc6/; cp /src/LICENSE /src/README.md usr/share/doc/dptrain/; \
    echo 'dptrain:x:65532:65532:dptrain:/data:/usr/bin/dptrain' >etc/passwd; \
    echo 'dptrain:x:65532:' >etc/group; \
    echo 'hosts: files dns' >etc/nsswitch.conf; \
    /image/usr/bin/dptrain version

FROM scratch
COPY --from=build /image/ /
# Volumes that are made from the image get the owner of its folders. --chown is for folders that aren't there yet.
COPY --from=build --chown=65532:65532 /owned/ /
# Downloads go to /data/cache, results to /runs, because runs/ is where the command puts them.
ENV PATH=/usr/bin HOME=/data DPTRAIN_DATA=/data XDG_CACHE_HOME=/data/cache \
    NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility \
    LD_LIBRARY_PATH=/usr/local/nvidia/lib64:/usr/lib64
USER 65532:65532
VOLUME /data /runs
WORKDIR /
ENTRYPOINT ["/usr/bin/dptrain"]
CMD ["--help"]
