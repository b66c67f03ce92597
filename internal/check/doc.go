// Package check reads what a team has in its files and says which GOMAXPROCS each Go
// program there will get, and what is wrong with that.
//
// # Model
//
// [Run] walks over paths and hands every file to the [Checker]s that want it: of
// manifests, of source, of binaries and images. A Checker makes rule.Subjects of what
// it reads, has package rule judge them, and tells a [Sink]: a [Value] is what one
// program will get, a [Finding] is a rule that fired, at a line and a column, a
// [Problem] is what could not be read, an [Ignore] is a comment by which a user has
// answered a finding. When all files are read, Run sets the ignores against the
// findings, sorts, and gives a [Report], which package output renders.
//
// A [Change] is a fix as bytes to replace. [Fix] applies them to copies, runs the whole
// check again on those, and writes a file only when what was to be fixed is gone and
// nothing worse has come.
//
// # Limits
//
//   - A folder is entered but for .git, vendor, node_modules, testdata and what git
//     ignores; links to folders are not followed, unless they are named.
//   - Git's own configuration is not read: only the .gitignore files between the root of
//     the repository and a file, and .git/info/exclude, say what is ignored.
package check
