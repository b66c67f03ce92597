# What the build sets is not in the image.
# want: PF022@image
FROM golang:1.24-alpine AS build
ENV GOMAXPROCS=2
RUN go build -o /server .
FROM scratch
COPY --from=build /server /server
