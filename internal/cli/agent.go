package cli

import (
	"context"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/engine"
	"github.com/procfit/procfit/internal/load/rpc"
	"github.com/procfit/procfit/internal/measure/kube"
	"github.com/procfit/procfit/internal/measure/kube/agent"
)

// newAgent is what procfit runs inside a cluster.
func newAgent(std stdio) *cobra.Command {
	var idle time.Duration
	watch := false
	cmd := &cobra.Command{
		Use:    kube.AgentCommand,
		Short:  "Offer load and look at targets inside a cluster, as a sweep there asks",
		Hidden: true,
		Args:   noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if watch {
				return agent.Watch(cmd.Context(), std.out)
			}
			token := os.Getenv(agent.TokenVariable)
			if token == "" {
				return usageError("%s is not set: the sweep that starts an agent gives it a token there", agent.TokenVariable)
			}
			l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(agent.Port)))
			if err != nil {
				return err
			}
			return agent.NewServer(token, offer).Serve(cmd.Context(), l, idle)
		},
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "follow the programs of the pod to their end, and tell what they did")
	cmd.Flags().DurationVar(&idle, "idle", 15*time.Minute, "end when nobody has asked for so long")
	return cmd
}

// offer runs a load that came as JSON, in which a call of gRPC is without what makes it.
func offer(ctx context.Context, o load.Options) (*load.Result, error) {
	if o.GRPC != nil {
		o.GRPC.Calls = rpc.Calls{}
	}
	return engine.Run(ctx, o)
}
