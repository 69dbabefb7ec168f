# Two images of one static program each, run by a user who owns nothing: the mock server, and with --target serve the
# gateway for production. docs/docker.md shows their use.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG TARGETOS
ARG TARGETARCH
WORKDIR /src
# .git is there too: from it the Go command takes the version that the program prints.
RUN --mount=type=bind,target=. --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH GOWORK=off \
    go build -trimpath -ldflags='-s -w' -o / ./cmd/fiscope ./cmd/fiscope-mock

FROM scratch AS serve
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /fiscope /fiscope
USER 65532:65532
# Other containers reach it: it does not start without FISCOPE_SERVE_CLAVES.
ENV FISCOPE_SERVE_ADDR=:8081
EXPOSE 8081
ENTRYPOINT ["/fiscope", "serve"]

FROM scratch
COPY --from=build /fiscope-mock /fiscope-mock
USER 65532:65532
# Other containers reach it. For them /_mock/ is closed until there is a FISCOPE_MOCK_ADMIN_TOKEN.
ENV FISCOPE_MOCK_ADDR=:8080
EXPOSE 8080
HEALTHCHECK --interval=2s --timeout=6s CMD ["/fiscope-mock", "health", "http://127.0.0.1:8080"]
ENTRYPOINT ["/fiscope-mock"]
