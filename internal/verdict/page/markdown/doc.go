// Package markdown lays a style.View out as RESULTS.md: verdict, table,
// warnings, environment and how to repeat it, to be committed beside the code
// that it is about. Text from outside is escaped, so that a command line with
// pipes, backticks or HTML stays a command line (GitHub-flavoured Markdown).
package markdown
