// Package ready asks whether a server is ready to be loaded, by a Probe: an HTTP
// answer, a connection, the gRPC health service, or the user's own command.
//
// # What counts
//
//   - A URL of http, https or h2c: any answer below 500, redirects and 404 too, as
//     its paths are not known; or the statuses that the Probe names. At http, the
//     frame with which a server of HTTP/2 alone begins counts too, unless statuses
//     are named: then it is asked again in HTTP/2. A certificate is not verified:
//     nothing secret is sent, and the load verifies for itself. A refusal in TLS, as
//     for want of a client's certificate, is an answer, unless statuses are named; that
//     for an internal error, as of a server that has no certificate yet, is one when it
//     has lasted for three seconds.
//   - gRPC: SERVING for the whole server (grpc.health.v1, service ""). A server
//     without the health service answers UNIMPLEMENTED: it serves, and counts. So
//     do UNAUTHENTICATED and PERMISSION_DENIED.
//   - TCP, and a URL of any other scheme: a connection that is accepted.
//   - A command: exit code 0. It is run again until then, and may itself wait.
//
// Each attempt is over a connection of its own, and sends nothing but a GET without
// headers of the user's.
package ready
