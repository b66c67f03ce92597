// Package source finds what Go source does to GOMAXPROCS.
//
// # Model
//
// A [Checker] is told of every Go file, go.mod and go.work. It reads each by itself,
// which is cheap, and keeps what it names: a file that speaks of none of the words that
// a rule looks for is done with. At the end the packages of the others are loaded, one
// module after the other: their own syntax, and the types of what they import from the
// export data that the go command keeps.
//
// Each rule of one package is an analyzer of go/analysis, so that go vet and
// golangci-lint run them too ([Analyzers], [Vet]). All of them read one result, uses,
// which knows the calls that matter and where a number comes from. What only a whole
// module tells, its go line and what its programs export, is judged by the Checker
// alone.
//
// A package that the go command cannot load, or that does not type-check, is a Problem;
// it is judged all the same by what its own syntax tells, and nothing in it is changed.
//
// # Limits
//
//   - A number is followed through constants, variables that are set once, and flags,
//     within one package. What a parameter or another package brings is not judged.
//   - Tests are not judged, nor functions that take a *testing.T: what they set is an
//     arrangement, and reaches no user.
//   - Files that are built for another system or with other tags are not loaded; a
//     note names them.
//   - A workspace's own go line is not looked at: programs are released from their
//     module as a rule.
package source
