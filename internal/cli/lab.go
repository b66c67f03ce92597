package cli

import (
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/lab"
)

func newLab(io stdio) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "The practice programs",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLabList(io), newLabServe(io))
	return cmd
}

func newLabList(io stdio) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the practice programs",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			w := tabwriter.NewWriter(io.out, 0, 0, 2, ' ', 0)
			for _, e := range lab.List() {
				fmt.Fprintf(w, "%s\t%s\n", e.ID, e.Title)
			}
			return w.Flush()
		},
	}
}

func newLabServe(io stdio) *cobra.Command {
	var addr string
	cmd := &cobra.Command{
		Use:     "serve ID",
		Short:   "Run a practice server until it is interrupted",
		Example: "  procfit lab serve tinyserver --addr 127.0.0.1:8080",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError("serve takes the id of one practice program; procfit lab list shows them")
			}
			err := lab.Serve(cmd.Context(), args[0], addr, io.err)
			if unknown := (*lab.UnknownError)(nil); errors.As(err, &unknown) {
				return usageError("%w", err)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:8080", "`address` to listen at")
	return cmd
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError("unknown command %q; see %s --help", args[0], cmd.CommandPath())
	}
	return nil
}
