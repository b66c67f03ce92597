// Package cli is procfit's command line: one file a subcommand, each turning
// flags into a struct and calling run(ctx, std). Only this package sees flags,
// writers and exit codes; testdata/script is its specification.
package cli
