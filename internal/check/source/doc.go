// Package source finds what Go source does to GOMAXPROCS.
//
// # Model
//
// A [Checker] is told of every Go file, go.mod and go.work. It reads each by itself,
// which is cheap, and keeps what it names: a file that speaks of none of the words that
// a rule looks for is done with. At the end the go command lists the packages of the
// others and what they import, one module after the other. It builds nothing: a package
// gets its types from its own source, and from the declarations in that of its imports.
//
// Each rule of one package is an analyzer of go/analysis, so that go vet and
// golangci-lint run them too ([Analyzers], [Vet]). All of them read one result, uses,
// which knows the calls that matter and where a number comes from. What only a whole
// module tells, its go line and what its programs export, is judged by the Checker
// alone.
//
// A package that the go command cannot list, an import that it does not find, and a name
// that is defined nowhere are Problems; the package is judged all the same by what its own
// syntax tells, and nothing in it is changed. Other errors of types are not told: they may
// come from what is not known of an import's imports.
//
// # Limits
//
//   - A number is followed through constants, variables that are set once, and flags,
//     within one package. What a parameter or another package brings is not judged.
//   - Tests are not judged, nor functions that take a *testing.T: what they set is an
//     arrangement, and reaches no user.
//   - Of what an import imports in turn only the name is known.
//   - Files that are built for another system or with other tags are not looked at; a
//     note names them.
//   - A workspace's own go line is not looked at: programs are released from their
//     module as a rule.
package source
