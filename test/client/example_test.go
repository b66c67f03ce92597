package client_test

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel"

	"github.com/procfit/procfit/test/client"
)

func ExampleCollector() {
	registry := prometheus.NewRegistry()
	registry.MustRegister(client.NewCollector())
	families, err := registry.Gather()
	fmt.Println(len(families) > 0, err)
	// Output: true <nil>
}

func ExampleObserve() {
	registration, err := client.Observe(otel.Meter("example"))
	fmt.Println(registration != nil, err)
	// Output: true <nil>
}
