// Package agent is what procfit runs inside a cluster: it offers load from a pod of
// its own, and looks at a target from a container beside it. It is asked over HTTP, by
// a [Client] whose connections come through the API server's port-forward, and listens
// on the loopback of its pod alone, so that nothing else in the cluster can ask it.
//
// What is asked for carries an id of the asker's: asked again after a lost connection
// it is not done twice, and what came of it waits to be fetched. An agent that nobody
// asks for a while ends by itself.
//
// A load is the whole of load.Options and its answer the whole of load.Result, so that
// what the engine learns needs nothing here.
package agent
