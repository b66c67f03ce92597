// Package requests reads a mix of requests: from a file in one of vegeta's formats
// (https://github.com/tsenart/vegeta, "-format"), or from URLs with weights.
//
// The plain format has a request line, headers below it, and after these the name of a
// file with the body; a blank line ends a request, and a line that begins with # is a
// comment:
//
//	POST http://127.0.0.1:8080/things
//	Content-Type: application/json
//	@newthing.json
//
// The JSON format has an object a line, with method, url, and where they are wanted
// header (lists of values) and body (base64).
//
// One server is loaded, whose address the caller has: of the requests' URLs the path
// and the query are taken, and they all must name the same host, if any.
package requests
