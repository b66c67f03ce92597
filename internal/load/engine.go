package load

import "fmt"

// The engines, as journals write them.
const (
	// EngineRaw speaks plain HTTP/1.1 on Linux: event loops on threads of their own,
	// at the least cost.
	EngineRaw = "raw"
	// EnginePortable speaks all that package wire does, wherever Go runs.
	EnginePortable = "portable"
)

// chooseEngine is the one that is asked for, else the cheapest that can do it.
func (p *Prepared) chooseEngine() error {
	plain := p.scheme == SchemeHTTP && p.GRPC == nil
	switch p.Engine {
	case "":
		p.Engine = EnginePortable
		if hasRaw && plain {
			p.Engine = EngineRaw
		}
	case EnginePortable:
	case EngineRaw:
		if !hasRaw {
			return invalid(FieldEngine, p.Engine, "there is none on this system; leave it out")
		}
		if !plain {
			return invalid(FieldEngine, p.Engine, "it speaks plain HTTP/1.1 alone; leave it out")
		}
	default:
		return invalid(FieldEngine, p.Engine, "there are %s and %s", EngineRaw, EnginePortable)
	}
	if p.Streams > 1 && p.scheme == SchemeHTTP && p.GRPC == nil {
		return invalid(FieldStreams, fmt.Sprint(p.Streams), "http:// is HTTP/1.1, which has one request at a time on a connection: write h2c:// or https://")
	}
	return nil
}
