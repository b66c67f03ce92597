// A nats-server with 2,000 subscriptions to which messages come, whose monitoring pages are
// served with a Meter.
package main

import (
	"flag"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"example.com/agree/metered"
)

func main() {
	address := flag.String("addr", "", "where the monitoring pages are served")
	flag.Parse()
	metered.Allow()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, HTTPHost: "127.0.0.1", HTTPPort: server.RANDOM_PORT, NoSigs: true})
	if err != nil {
		log.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		log.Fatal("the server is not ready")
	}
	for i := range 20 {
		go client(s.Addr().String(), i)
	}
	l, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(metered.Server(&http.Server{Handler: s.HTTPHandler()}).Serve(metered.Meter.Listener(l)))
}

// client subscribes to 100 subjects, and publishes to one of them 10 times per second.
func client(address string, n int) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		for b := make([]byte, 4096); ; {
			if _, err := c.Read(b); err != nil {
				log.Fatal(err)
			}
		}
	}()
	say := func(text string) {
		if _, err := c.Write([]byte(text + "\r\n")); err != nil {
			log.Fatal(err)
		}
	}
	say(`CONNECT {"verbose":false,"pedantic":false}`)
	for i := range 100 {
		say("SUB agree." + strconv.Itoa(n) + "." + strconv.Itoa(i) + " " + strconv.Itoa(i))
	}
	for i := 0; ; i++ {
		time.Sleep(100 * time.Millisecond)
		say("PONG") // the server asks now and then
		say("PUB agree." + strconv.Itoa(n) + "." + strconv.Itoa(i%100) + " 5\r\nhello")
	}
}
