// Package rpc makes a call of gRPC from what a user writes: a method's name and its
// message in JSON. Where the message's type comes from is the user's choice: .proto
// files, a set of compiled descriptors, or the server itself by reflection, which is
// asked in its version 1 and then in the alpha one.
//
// The result is bytes. They are sent by package wire, which knows of gRPC no more
// than how its messages and an answer end.
//
// # Limits
//
// One request message: unary methods and those whose server streams. No
// compression. An answer's messages are not decoded.
package rpc
