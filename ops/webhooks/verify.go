// A webhook receiver that verifies signatures: WEBHOOK_SECRET=whsec_... go run verify.go 8081
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const tolerance = 300 * time.Second

var secret = os.Getenv("WEBHOOK_SECRET")

// X-Service-Signature: hex, keyed with the whole secret, over the raw bytes of the body.
func verify(header http.Header, body []byte) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	expected := hex.EncodeToString(mac.Sum(nil))
	return hmac.Equal([]byte(header.Get("X-Service-Signature")), []byte(expected))
}

// webhook-signature (Standard Webhooks): also covers the timestamp, and works while a secret is rotated.
func verifyStandard(header http.Header, body []byte) bool {
	timestamp := header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > tolerance {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(header.Get("webhook-id") + "." + timestamp + "."))
	mac.Write(body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, each := range strings.Split(header.Get("webhook-signature"), " ") {
		if hmac.Equal([]byte(each), []byte(expected)) {
			return true
		}
	}
	return false
}

func receive(answer http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil || !verify(request.Header, body) || !verifyStandard(request.Header, body) {
		answer.WriteHeader(http.StatusUnauthorized)
		return
	}
	answer.WriteHeader(http.StatusNoContent)
	fmt.Println(request.Header.Get("X-Service-Event"), string(body))
}

func main() {
	port := "8081"
	if len(os.Args) > 1 {
		port = os.Args[1]
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		panic(err)
	}
	fmt.Println("listening")
	panic(http.Serve(listener, http.HandlerFunc(receive)))
}
