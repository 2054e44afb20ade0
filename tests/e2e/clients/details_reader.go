// Reads refusals with gRPC's own reader for Go: status.Convert(err).Details(). Requests are written as bytes, so that
// the program needs nothing but Debian's packages.
//
// usage: details_reader <address> <address of a server that is over its rate at the second call>
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Bytes as they stand in the frame.
type asIs struct{}

func (asIs) Marshal(v interface{}) ([]byte, error) { return *v.(*[]byte), nil }
func (asIs) Unmarshal(data []byte, v interface{}) error {
	*v.(*[]byte) = append([]byte(nil), data...)
	return nil
}
func (asIs) Name() string { return "proto" }

type refusal struct {
	code  codes.Code
	info  *errdetails.ErrorInfo
	bad   *errdetails.BadRequest
	retry *errdetails.RetryInfo
}

func fail(format string, values ...interface{}) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
	os.Exit(1)
}

func call(connection *grpc.ClientConn, method string, request []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var answer []byte
	return connection.Invoke(ctx, "/reversi.v1.GameService/"+method, &request, &answer, grpc.ForceCodec(asIs{}))
}

func refused(err error) refusal {
	if err == nil {
		fail("a refusal was wanted, but the call was accepted")
	}
	answer := status.Convert(err)
	read := refusal{code: answer.Code()}
	for _, detail := range answer.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			read.info = detail
		case *errdetails.BadRequest:
			read.bad = detail
		case *errdetails.RetryInfo:
			read.retry = detail
		default:
			fail("unknown detail %v", detail)
		}
	}
	if read.info == nil || read.info.Domain != "reversi.v1" {
		fail("no ErrorInfo of reversi.v1 in %v", err)
	}
	fmt.Println(read.code, read.info.Reason, read.info.Metadata)
	return read
}

func dial(address string) *grpc.ClientConn {
	connection, err := grpc.Dial(address, grpc.WithInsecure())
	if err != nil {
		fail("%v", err)
	}
	return connection
}

func main() {
	usual, overRate := dial(os.Args[1]), dial(os.Args[2])

	// No game_id at all.
	missing := refused(call(usual, "GetGame", nil))
	if missing.code != codes.InvalidArgument || missing.info.Reason != "MALFORMED_REQUEST" || missing.bad == nil ||
		missing.bad.FieldViolations[0].Field != "game_id" {
		fail("a missing game_id: %v", missing)
	}

	// game_id (1) = "no-such-game".
	unknown := refused(call(usual, "GetGame", append([]byte{0x0a, 12}, "no-such-game"...)))
	if unknown.code != codes.NotFound || unknown.info.Reason != "GAME_NOT_FOUND" {
		fail("an unknown game: %v", unknown)
	}

	if err := call(overRate, "ListVariants", nil); err != nil {
		fail("the first call: %v", err)
	}
	limited := refused(call(overRate, "ListVariants", nil))
	if limited.code != codes.ResourceExhausted || limited.info.Reason != "RATE_LIMITED" || limited.retry == nil ||
		limited.retry.RetryDelay.Seconds*1e9+int64(limited.retry.RetryDelay.Nanos) <= 0 {
		fail("a call over the rate: %v", limited)
	}
	fmt.Println("reasons seen: GAME_NOT_FOUND MALFORMED_REQUEST RATE_LIMITED")
}
